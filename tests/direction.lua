-- What a reader of a page from right to left would see turned round: lua direction.lua FILE.md... prints a line for each number with a
-- Latin word, a unit or a letter behind it ("12 GB", "4070 Ti", "1/n"), each power behind code, each list of numbers in brackets, and
-- each product of three numbers below the names of a table's head ("DP × TP × PP"), that stands beside Arabic without an isolate
-- (U+2066 to U+2069) around it. Code and cells isolate themselves.
local OBJECT = "\1"
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

local function read(place, text, product)
  for _, pattern in ipairs(WRONG) do
    for at, what in text:gmatch(pattern) do
      if turned(text:sub(1, at - 1)) then say(place, what) end
    end
  end
  local what = product and text:match("%d+ × %d+ × %d+")
  if what then say(place, what) end
end

for _, path in ipairs(arg) do
  local number, fenced, product = 0, false, false
  for line in io.lines(path) do
    number = number + 1
    if line:find("^```") then fenced = not fenced
    elseif not fenced then
      line = line:gsub("`[^`]*`", OBJECT):gsub("%]%([^)]*%)", "]"):gsub("\u{2066}.-\u{2069}", "\2")
      product = line ~= "" and (product or line:find("^| %u+ × %u+ × %u+ |") ~= nil)
      for cell in line:gmatch("[^|]+") do read(path .. ":" .. number .. ":1", cell, product) end
    end
  end
end
os.exit(found == 0)
