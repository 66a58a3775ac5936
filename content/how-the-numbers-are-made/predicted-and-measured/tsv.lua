-- Reads a table of measurements: lines of cells between tabs, the first one names the columns.
--
-- A row is split in two on purpose: row.column is what was run, and all that the rules see; row.measured is what came out.
local tsv = {}

-- What a row says about its run. Other columns may be there and are left alone.
tsv.columns = {"id", "group", "task", "model", "gpu", "n_gpu", "framework", "precision", "method", "batch", "seq",
  "checkpointing", "optimizer", "other", "metric", "quality", "source"}
tsv.measured = {"value", "unit", "bytes"}

local LARGEST = 2 ^ 53   -- bytes: what the library counts in, and a float holds exactly
local LONGEST = 10000    -- bytes of a cell

-- Reading a cell that is not a column of the run is a fault of the rule that does it, not an empty cell.
local guard = {__index = function(_, name)
  error(("no rule may read '%s'"):format(tostring(name)), 2)
end}

local function lines_of(text)
  local at = text:sub(1, 3) == "\xEF\xBB\xBF" and 4 or 1
  return function()
    if at > #text then return nil end
    local stop = text:find("\n", at, true) or #text + 1
    local line = text:sub(at, stop - 1)
    at = stop + 1
    return (line:gsub("\r$", ""))
  end
end

local function cells_of(line)
  local cells, at = {}, 1
  while true do
    local stop = line:find("\t", at, true)
    cells[#cells + 1] = line:sub(at, (stop or #line + 1) - 1)
    if not stop then return cells end
    at = stop + 1
  end
end

-- Without blanks around it, and without the quotes that some writers of such tables put around a cell.
local function plain(cell)
  cell = cell:match("^%s*(.-)%s*$")
  local inside = cell:match('^"(.*)"$')
  return inside and (inside:gsub('""', '"')) or cell
end

local function places_of(head, wrong)
  local place = {}
  for i, name in ipairs(head) do
    if place[name] then wrong(1, "column '%s' is there twice", name) end
    place[name] = place[name] or i
  end
  for _, list in ipairs{tsv.columns, tsv.measured} do
    for _, name in ipairs(list) do
      if not place[name] then wrong(1, "no column '%s'", name) end
    end
  end
  return place
end

local function cell_fault(name, cell)
  if #cell > LONGEST then return "'%s' has more than 10000 bytes", name end
  if cell:find("[%z\1-\31\127]") then return "'%s' has a control character", name end
  if not utf8.len(cell) then return "'%s' is not UTF-8", name end
end

local function bytes_fault(cell)
  local n = tonumber(cell)
  if not n or not cell:find("^[%d.eE+-]+$") then return "'bytes' is '%s': a number of bytes is needed", cell:sub(1, 40) end
  if n <= 0 or n ~= n then return "'bytes' is %s: a measurement is more than 0", cell end
  if n > LARGEST then return "'bytes' is %s: more than 2^53", cell:sub(1, 40) end
end

local function row_of(cells, place, line, wrong)
  local row, good = {line = line, column = setmetatable({}, guard), measured = {}}, true
  local function fault(text, ...)
    if text then good = false wrong(line, text, ...) end
  end
  for _, name in ipairs(tsv.columns) do
    local cell = cells[place[name]]
    fault(cell_fault(name, cell))
    row.column[name] = plain(cell)
  end
  for _, name in ipairs(tsv.measured) do row.measured[name] = cells[place[name]] end
  fault(bytes_fault(row.measured.bytes))
  row.measured.bytes = tonumber(row.measured.bytes)
  return good and row or nil
end

-- The rows of a text, and its faults: "NAME:LINE: error: what is wrong", in order of line. A row with a fault is left out.
function tsv.read(text, name)
  local rows, faults, ids = {}, {}, {}
  local function wrong(line, format, ...)
    faults[#faults + 1] = ("%s:%d: error: %s"):format(name, line, format:format(...))
  end
  local next_line, line = lines_of(text), 1
  local head = next_line()
  if not head then
    wrong(1, "the file is empty: a line with the names of the columns is needed")
    return rows, faults
  end
  head = cells_of(head)
  local place = places_of(head, wrong)
  if #faults > 0 then return rows, faults end
  for text_line in next_line do
    line = line + 1
    local cells = cells_of(text_line)
    if text_line == "" then
      -- an empty line says nothing
    elseif #cells ~= #head then
      wrong(line, "%d cells where the first line has %d", #cells, #head)
    else
      local row = row_of(cells, place, line, wrong)
      if row and ids[row.column.id] then
        wrong(line, "id '%s' is that of line %d too", row.column.id, ids[row.column.id])
      elseif row then
        ids[row.column.id] = line
        rows[#rows + 1] = row
      end
    end
  end
  return rows, faults
end

return tsv
