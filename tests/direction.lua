-- What a reader of a page from right to left would see turned round: lua direction.lua FILE.md... CATALOG.json... prints a line for each
-- number with a Latin word, a unit or a letter behind it ("12 GB", "4070 Ti", "1/n"), each power behind code, each list of numbers in
-- brackets, each product of numbers ("8 × 1,024"), and each head of a table that names the factors of such products in Arabic, that
-- stands without an isolate (U+2066 to U+2069) around it. In a catalog a word in braces is a number. Code and cells isolate themselves.
local OBJECT, ISOLATED = "\1", "\2"
local found = 0

local function say(place, what)
  found = found + 1
  print(place .. ': "' .. what:gsub(OBJECT, "...") .. '" is turned round: put U+2066 before it and U+2069 behind it')
end

-- Behind a Latin letter a number goes on from left to right; behind an Arabic one, or none, it does not.
local function turned(before)
  local last = before:match(".*()[%a\xd8-\xdb]")
  return not last or not before:sub(last, last):find("%a")
end

local WRONG = {"()(%f[%w.,]%d[%d.,]*[ \u{a0}]+%a+)", "()(%f[%w.,]%d+/%a+)", "()(%(%d+, %d[%d, ]*%))", "()(" .. OBJECT .. "²)"}
local PRODUCT = "%d[%d.,]* × %d[%d.,]*"

local function read(place, text)
  for _, pattern in ipairs(WRONG) do
    for at, what in text:gmatch(pattern) do
      if turned(text:sub(1, at - 1)) then say(place, what) end
    end
  end
  for what in text:gmatch(PRODUCT) do say(place, what) end
end

-- The text with one sign in place of each isolate, the inner ones first.
local function isolated(text)
  local count
  text = text:gsub("\u{2066}", "\3"):gsub("\u{2067}", "\3"):gsub("\u{2068}", "\3"):gsub("\u{2069}", "\4")
  repeat text, count = text:gsub("\3[^\3\4]*\4", ISOLATED) until count == 0
  return text
end

local function cells_of(row)
  local cells = {}
  for cell in row:gmatch("[^|]+") do cells[#cells + 1] = cell end
  return cells
end

-- A head is held until a row below it has a product in its column.
local function read_table(head, place, raw)
  for column, cell in ipairs(cells_of(raw)) do
    local name = head.cells[column]
    if name and cell:find(PRODUCT) and isolated(name):find("[\xd8-\xdb]. × ") then
      say(head.place, name:match("^ *(.-) *$"))
      head.cells[column] = false
    end
  end
end

local function read_document(path)
  local number, fenced, head = 0, false, nil
  for raw in io.lines(path) do
    number = number + 1
    local place = path .. ":" .. number .. ":1"
    if raw:find("^```") then fenced = not fenced
    elseif not fenced then
      if not raw:find("^|") then head = nil
      elseif not head then head = {place = place, cells = cells_of(raw)}
      else read_table(head, place, raw) end
      local line = raw:gsub("`[^`]*`", OBJECT):gsub("%]%([^)]*%)", "]")
      for cell in isolated(line):gmatch("[^|]+") do read(place, cell) end
    end
  end
end

local function read_catalog(path)
  local number = 0
  for raw in io.lines(path) do
    number = number + 1
    for what in isolated(raw:gsub("{%w+}", "0")):gmatch(PRODUCT) do say(path .. ":" .. number .. ":1", what) end
  end
end

for _, path in ipairs(arg) do
  if path:find("%.json$") then read_catalog(path) else read_document(path) end
end
os.exit(found == 0)
