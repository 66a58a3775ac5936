-- Prints a table of measurements beside what the estimator says: measured.lua FILE.tsv. A line a row, with tabs between id, class,
-- words, figure, bytes predicted, bytes measured, error in per cent, what keeps it out of the sums, and what stands for words that
-- the library lacks; or id, class, and why the row cannot be said. The last lines are the sums by class. Exit code 1 when the file is broken; its faults go to stderr, and its good rows are printed all the same.
local score = require "score"
local tsv = require "tsv"

local function line_of(result)
  local column, shown = result.row.column, {}
  shown[1], shown[2] = column.id, result.class
  if result.error then
    shown[3], shown[4], shown[5] = result.words, result.figure, ("%.0f"):format(result.predicted)
    shown[6], shown[7] = ("%.0f"):format(result.row.measured.bytes), ("%+.2f"):format(100 * result.error)
    shown[8] = result.step_bound and "optimizer step" or result.class == "nvidia-smi" and result.full_card and "full card" or ""
    shown[9] = result.instead and table.concat(result.instead, "; ") or nil
  else
    shown[3] = result.why
    if result.words then shown[4] = result.words end
  end
  return table.concat(shown, "\t")
end

local function shares(class, errors)
  local parts = {}
  for i = 2, class.goal and #class.goal or 1 do
    local share, limit = class.goal[i][1], class.goal[i][2]
    parts[#parts + 1] = ("%5.1f%% within %g%% (goal %g%%)"):format(100 * score.within(errors, limit / 100), limit, share)
  end
  return table.concat(parts, ", ")
end

local function sum_line(name, sum, class)
  local goal = class and class.goal and (" (goal %g%%)"):format(class.goal[1]) or ""
  return ("# %-36s %4d rows, %4d said, %4d by what is nearest, median %6.2f%%%s, %s"):format(name, sum.rows, sum.said, sum.instead, 100 * score.median(sum.errors), goal,
    shares(class or {}, sum.errors))
end

local function print_sums(results)
  local steps = {}
  for _, entry in ipairs(score.by_class(results)) do
    print(sum_line(entry.class.title, entry.sum, entry.class))
    table.move(entry.sum.step_bound, 1, #entry.sum.step_bound, #steps + 1, steps)
  end
  print(("# %-36s %4d rows,                                median %6.2f%%: they prove states only, and count in no class"):format(
    "full fine-tuning, peak in the step", #steps, 100 * score.median(steps)))
end

local name = arg[1]
local file, problem = io.open(name, "rb")
if not file then
  io.stderr:write(problem, "\n")
  os.exit(1)
end
local rows, faults = tsv.read(file:read("a"), name)
for _, fault in ipairs(faults) do io.stderr:write(fault, "\n") end
local results = score.rows(rows, vram.estimate)
for _, result in ipairs(results) do print(line_of(result)) end
print_sums(results)
os.exit(#faults == 0)
