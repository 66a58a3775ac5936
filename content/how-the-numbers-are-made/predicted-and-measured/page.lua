-- Figures of the page that sets every public measurement beside the estimator's figure: all of them from measured.tsv, anew at
-- each build.
local causes = require "causes"
local peers = require "peers"
local reasons = require "reasons"
local score = require "score"
local tsv = require "tsv"

local SOURCE = "measured.tsv, tests/calc/measured.sh"
local rows, faults = tsv.read(contents("measured.tsv"), "measured.tsv")
if #faults > 0 then error(faults[1]) end
local results = score.rows(rows, vram.estimate)
local figures = {}

-- what: a key of the catalog or a name.
local function count(n, what) return integer(computed(n, "", SOURCE .. ": " .. what)) end

local function share(x, what) return percent(computed(x, "", SOURCE .. ": " .. what), 1) end

-- ---- sums -----------------------------------------------------------------------------------

local columns = {"accuracy.rows", "accuracy.said", "accuracy.near", "accuracy.counted", "accuracy.median", "accuracy.worst_tenth", "accuracy.within_10"}

local function sum_row(label, list)
  local sum = score.sum(list)
  local row = {label, count(sum.rows, label), count(sum.said, label), count(sum.instead, label), count(#sum.errors, label)}
  if #sum.errors > 0 then
    row[6], row[7] = share(score.median(sum.errors), label), share(score.quantile(sum.errors, 0.9), label)
    row[8] = share(score.within(sum.errors, 0.1), label)
  end
  return row
end

local function by(key_of, label_of)
  local groups = score.group(results, key_of)
  table.sort(groups, function(a, b) return #a.results > #b.results or #a.results == #b.results and a.key < b.key end)
  local list = {}
  for i, group in ipairs(groups) do list[i] = sum_row(label_of(group.key), group.results) end
  return list
end

-- The column of rows that go by the nearest is there where a row does.
local near_column = 4
local near_rows = score.sum(results).instead

local function titled(first, title, list)
  local heads = {first, table.unpack(columns)}
  if near_rows == 0 then
    table.remove(heads, near_column)
    for _, row in ipairs(list) do table.move(row, near_column + 1, #heads + 1, near_column); row[#heads + 1] = nil end
  end
  return {title = title, columns = heads, rows = list}
end

local function key(prefix) return function(name) return prefix .. name:gsub("[ -]", "_") end end

local function itself(name) return name == "others" and "accuracy.others" or name end

figures.by_class = titled("accuracy.class", "accuracy.by_class", by(function(r) return r.class end, key "accuracy.class."))
figures.by_source = titled("accuracy.source", "accuracy.by_source", by(function(r) return r.source end, itself))
figures.by_regime = titled("accuracy.regime", "accuracy.by_regime", by(function(r) return r.regime end, key "accuracy.regime."))
figures.by_framework = titled("accuracy.framework", "accuracy.by_framework", by(function(r) return r.framework end, itself))

local all = score.sum(results)
figures.rows, figures.said, figures.near = count(#results, "accuracy.rows"), count(all.said, "accuracy.said"), count(all.instead, "accuracy.near")
figures.unsaid = count(#results - all.said - all.instead, "accuracy.none")
figures.counted, figures.median = count(#all.errors, "accuracy.counted"), share(score.median(all.errors), "accuracy.counted")
figures.step_rows, figures.step_median = count(#all.step_bound, "accuracy.step"), share(score.median(all.step_bound), "accuracy.step")
figures.full_cards = count(all.full_card, "accuracy.full_card")

-- ---- why a row has no figure ----------------------------------------------------------------

local function unsaid_rows()
  local without = {}
  for _, r in ipairs(results) do
    if r.why then without[#without + 1] = r end
  end
  local groups, list = score.group(without, reasons.of), {}
  table.sort(groups, function(a, b) return #a.results > #b.results or #a.results == #b.results and a.key < b.key end)
  for i, group in ipairs(groups) do
    list[i] = {group.key, count(#group.results, "accuracy.none")}
  end
  return list
end

figures.unsaid_why = {title = "accuracy.why", columns = {"accuracy.reason", "accuracy.rows"}, rows = unsaid_rows()}

-- ---- the picture ----------------------------------------------------------------------------

-- Sources of few rows share a colour.
local drawn_as = {torchtune = "torchtune, torchtitan, torchao", torchtitan = "torchtune, torchtitan, torchao", torchao = "torchtune, torchtitan, torchao"}

local function cloud()
  local with_figure = {}
  for _, r in ipairs(results) do
    if r.error then with_figure[#with_figure + 1] = r end
  end
  local groups = {}
  for i, group in ipairs(score.group(with_figure, function(r) return drawn_as[r.source] or r.source end)) do
    local points = {}
    for _, r in ipairs(group.results) do
      points[#points + 1], points[#points + 2] = r.row.measured.bytes, r.predicted
    end
    groups[i] = {group.key, points}
  end
  table.sort(groups, function(a, b) return #a[2] > #b[2] end)
  return {title = "accuracy.cloud", x = "accuracy.measured", y = "chart.predicted", band = 0.1, groups = groups}
end

figures.cloud = cloud()

-- ---- the twenty worst -----------------------------------------------------------------------

local WORST = 20

local function what_ran(column)
  local words = {column.model:gsub(" *%(.*$", ""), column.method:gsub(" *%[none%]$", ""), column.batch .. " × " .. column.seq:gsub("%d%d%d%d+", "{%0}")}
  if column.n_gpu ~= "1" then words[#words + 1] = column.n_gpu .. " GPU" end
  return ("\u{2066}%s: %s\u{2069}"):format(column.id, (table.concat(words, ", "):gsub("ZeRO%-", "ZeRO\u{2011}")))
end

local function worst_row(r)
  local measurement = reported(r.row.measured.bytes, "B", r.row.column.source:match("https?://[^ )]+") or r.row.column.source)
  local estimate = computed(r.predicted, "B", "vramcalc estimate " .. r.words)
  return {what_ran(r.row.column), MiB(measurement), MiB(estimate), difference(estimate, measurement, 0), causes.of(r)}
end

local function worst()
  local counted, list = {}, {}
  for _, r in ipairs(results) do
    if score.counts(r) and r.class ~= "unstated" then counted[#counted + 1] = r end
  end
  table.sort(counted, function(a, b) return math.abs(a.error) > math.abs(b.error) end)
  for i = 1, math.min(WORST, #counted) do list[i] = worst_row(counted[i]) end
  return list
end

figures.worst = {title = "accuracy.worst", columns = {"accuracy.run", "accuracy.measured", "chart.predicted", "accuracy.error", "accuracy.cause"},
  rows = worst()}

-- ---- other estimators -----------------------------------------------------------------------

local function peer_rows()
  local list, ours = {}, peers.ours_today(results)
  for i, p in ipairs(peers.list) do
    local source, mine = peers.address(p), ours[p.group]
    list[i] = {"accuracy.group." .. p.group, p.name, integer(reported(p.rows, "", source)), percent(reported(p.median / 100, "", source), 1),
      share(mine.median, p.group), count(mine.rows, p.group)}
  end
  return list
end

figures.peers = {title = "accuracy.peers", columns = {"accuracy.group", "accuracy.estimator", "accuracy.rows", "accuracy.median", "accuracy.ours_today",
  "accuracy.rows"},
  rows = peer_rows()}
figures.peers_best = percent(reported(peers.best / 100, "", peers.ours_then), 1)
figures.peers_ours = percent(computed(peers.ours_median / 100, "", peers.ours_then), 1)

return figures
