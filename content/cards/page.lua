-- What each card holds: every card of the library since Ampere that somebody has observed, the largest models by task and the
-- longest contexts; of older cards only what CUDA offers.
local fits = require("fits")

local holds, lengths, older = {}, {}, {}
for _, card in ipairs(vram.gpus("")) do
  local seen = card.cuda_seen
  if seen.value > 0 and fits.modern(card) then
    local name = {card.name, page = "cards/" .. fits.slug(card.name)}
    local function largest(way)
      local model = fits.models[fits.largest(way, card)]
      return model and model[1] or "–"
    end
    holds[#holds + 1] = {name, MiB(card.cuda_bytes), integer(seen), largest("full"), largest("qlora"), largest("serve")}
    lengths[#lengths + 1] = {name, integer(fits.longest("qlora", "llama-3.1-8b", card)), integer(fits.longest("awq", "llama-3.1-8b", card))}
  elseif seen.value > 0 then
    older[#older + 1] = {card.name, MiB(card.cuda_bytes), MiB(card.cuda_low_bytes), MiB(card.cuda_high_bytes), integer(seen)}
  end
end
return {margin = fits.margin,
  cards = {title = "chart.cards_title", rows = holds,
    columns = {"chart.card", "chart.cuda", "chart.cards_seen", "chart.cards_full", "chart.cards_qlora", "chart.cards_serve"}},
  older = {title = "chart.cards_older", rows = older,
    columns = {"chart.card", "chart.cuda", "chart.cards_lowest", "chart.cards_highest", "chart.cards_seen"}},
  lengths = {title = "chart.cards_title", rows = lengths, columns = {"chart.card", "chart.cards_train_length", "chart.cards_serve_length"}}}
