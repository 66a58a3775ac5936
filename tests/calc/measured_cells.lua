-- Puts each cell of each row of measured.tsv into a row of every source: none may break a rule. measured_cells.lua FILE.tsv prints an
-- "ok" or a "not ok" line.
local tsv = require "tsv"
local words = require "words"

local changed = {"n_gpu", "batch", "seq", "checkpointing", "optimizer", "precision", "other"}

local function cells_of(rows, name)
  local cells = {["0"] = true, x = true, [""] = true}
  for _, row in ipairs(rows) do cells[row.column[name]] = true end
  return cells
end

-- A sentence about the first cell that breaks a rule of the row's source, or nil.
local function broken_by(column, name, cells)
  local own, broken = column[name], nil
  for cell in pairs(cells) do
    column[name] = cell
    local list, wrong = words.of(column)
    if not list and wrong:find("fault of the rules", 1, true) then broken = ("%s, %s '%s': %s"):format(column.group, name, cell, wrong) end
  end
  column[name] = own
  return broken
end

local file = assert(io.open(arg[1], "rb"))
local rows = tsv.read(file:read("a"), arg[1])
local seen, sources, broken = {}, 0, nil
for _, row in ipairs(rows) do
  local group = row.column.group
  if not seen[group] then
    seen[group], sources = true, sources + 1
    for _, name in ipairs(changed) do broken = broken or broken_by(row.column, name, cells_of(rows, name)) end
  end
end
local good = sources > 20 and not broken
print((good and "ok " or "not ok ") .. "no cell of another row breaks a rule" .. (good and "" or ": " .. tostring(broken)))
os.exit(good)
