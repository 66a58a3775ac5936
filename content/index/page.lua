-- The picture of the start page: the 124M case on its card.
local card = vram.gpu("RTX 4070")
return {case = require "pictures".card_cells(card, vram.estimate{preset = "oom-gpt2", gradient_accumulation_steps = 2})}
