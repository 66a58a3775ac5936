-- The list of the pages of cards beside the library's: every NVIDIA card since Ampere, in its order, noindex where nobody has
-- observed one. Prints "ok" or "not ok" lines.
local LIST = "content/cards/card/card.tsv"

local wanted = {}
for _, card in ipairs(vram.gpus()) do
  if card.compute_capability >= 80 then
    wanted[#wanted + 1] = card.name .. (card.cuda_seen > 0 and "" or "\tnoindex")
  end
end

local failed, line = false, 0
for text in io.lines(LIST) do
  line = line + 1
  if text ~= wanted[line] then
    failed = true
    print(("not ok %s:%d: '%s', not '%s'"):format(LIST, line, text, wanted[line] or "the end"))
    break
  end
end
if not failed and line < #wanted then
  failed = true
  print(("not ok %s: '%s' is missing"):format(LIST, wanted[line + 1]))
end
if not failed then print(("ok %d pages of cards are the library's"):format(line)) end
os.exit(not failed)
