-- Prints how far the estimator is from a table of measurements: accuracy.lua FILE.tsv. A line for each source, kind of run,
-- framework and figure: how many rows, of how many something can be said, and of the errors that count their median, 90th
-- percentile, mean with sign, and shares within 5, 10 and 25 per cent.
local score = require "score"
local tsv = require "tsv"

local function mean(errors)
  local sum = 0
  for _, e in ipairs(errors) do sum = sum + e end
  return #errors > 0 and sum / #errors or 0
end

local function line(name, results)
  local sum = score.sum(results)
  local e = sum.errors
  if #e == 0 then
    print(("%-28s %5d %5d %5d %6d"):format(name, sum.rows, sum.said, sum.instead, 0))
    return
  end
  print(("%-28s %5d %5d %5d %6d %8.2f %8.2f %+8.2f %6.0f %5.0f %5.0f"):format(name, sum.rows, sum.said, sum.instead, #e, 100 * score.median(e),
    100 * score.quantile(e, 0.9), 100 * mean(e), 100 * score.within(e, 0.05), 100 * score.within(e, 0.1), 100 * score.within(e, 0.25)))
end

local function block(title, results, key_of)
  print(("\n%-28s %5s %5s %5s %6s %8s %8s %8s %6s %5s %5s"):format("by " .. title, "rows", "said", "near", "counts", "median", "90th", "mean",
    "<=5", "<=10", "<=25"))
  local groups = score.group(results, key_of)
  table.sort(groups, function(a, b) return #a.results > #b.results or #a.results == #b.results and a.key < b.key end)
  for _, group in ipairs(groups) do line(group.key, group.results) end
end

local file = assert(io.open(arg[1], "rb"))
local rows, faults = tsv.read(file:read("a"), arg[1])
for _, fault in ipairs(faults) do io.stderr:write(fault, "\n") end
local results = score.rows(rows, vram.estimate)
print("errors in per cent; \"near\": rows of which the nearest that the library knows is said")
block("class", results, function(r) return r.class end)
block("source", results, function(r) return r.source end)
block("kind of run", results, function(r) return r.regime end)
block("framework", results, function(r) return r.framework end)
block("figure", results, function(r) return r.figure end)
os.exit(#faults == 0)
