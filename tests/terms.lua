-- terms.lua LANGUAGE TERMS.tsv FILE.po: holds translations to their term base. Each passage whose source has a term has one of the words
-- that the base gives for it; no passage, and no word of the catalogs i18n/LANGUAGE.json and i18n/calculator/LANGUAGE.json, has one that it
-- forbids. Prints a line a case.
-- A row: term, words for it, words to avoid, note; alternatives are separated by " | "; "-" leaves a column open. A word is found anywhere,
-- also in a compound; "^" before it wants the beginning of a word.
local language, base, po = arg[1], arg[2], arg[3]
local failures = 0

local function fail(place, what)
  failures = failures + 1
  print("not ok terms: " .. place .. ": " .. what)
end

local function lines_of(path)
  local file = assert(io.open(path))
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

-- ASCII letters, and those of Latin-1 that are two bytes from 0xc3 0x80 on, in lower case.
local function lower(s)
  return (s:lower():gsub("\xc3([\x80-\x9e])", function(c) return "\xc3" .. string.char(c:byte() + 32) end))
end

local function split(cell)
  local words = {}
  if cell == "-" or cell == "" then return words end
  for word in (cell .. " | "):gmatch("(.-) | ") do words[#words + 1] = lower(word) end
  return words
end

local function has(text, word)
  local begins = word:sub(1, 1) == "^"
  if begins then word = word:sub(2) end
  local from = 1
  while true do
    local at = text:find(word, from, true)
    if not at then return false end
    if not begins or at == 1 or not text:sub(at - 1, at - 1):find("[%w_\x80-\xff]") then return true end
    from = at + 1
  end
end

local function has_any(text, words)
  for _, word in ipairs(words) do
    if has(text, word) then return word end
  end
end

-- The English term as a word of its own, or with an s.
local function has_term(text, term)
  local from = 1
  while true do
    local at, last = text:find(term, from, true)
    if not at then return false end
    local before, after = text:sub(at - 1, at - 1), text:sub(last + 1, last + 2)
    if not before:find("[%w_]") and (not after:find("^[%w_]") or after:find("^s[^%w_]?$")) then return true end
    from = at + 1
  end
end

-- ---- the base -------------------------------------------------------------------------------

local terms = {}
for number, line in ipairs(lines_of(base)) do
  if line ~= "" and line:sub(1, 1) ~= "#" then
    local cells = {}
    for cell in (line .. "\t"):gmatch("(.-)\t") do cells[#cells + 1] = cell end
    local place = base .. ":" .. number .. ":1"
    if #cells ~= 4 then fail(place, #cells .. " columns, not 4: term, words, words to avoid, note")
    elseif terms[cells[1]] then fail(place, "a second row for " .. cells[1])
    else
      terms[cells[1]] = true
      terms[#terms + 1] = {term = lower(cells[1]), words = split(cells[2]), avoid = split(cells[3]), cell = cells[2]}
    end
  end
end

-- ---- the passages ---------------------------------------------------------------------------

local function unquoted(line)
  local text = line:match('"(.*)"%s*$') or ""
  return (text:gsub("\\(.)", {n = "\n", t = "\t", ['"'] = '"', ["\\"] = "\\"}))
end

-- What is code, a cell or an address is no text.
local function prose(text)
  text = text:gsub("`[^`]*`", " "):gsub("%]%([^)]*%)", "] ")
  return lower((text:gsub("{#[^}]*}", " ")))
end

local files = {}
local function place_of(reference, translated)
  local path, line = reference:match("^(.-):(%d+)$")
  local own = path and path:gsub("[^/]+%.md$", language .. ".md")
  if not own then return reference end
  if files[own] == nil then
    local file = io.open(own)
    files[own] = file and lines_of(own) or false
    if file then file:close() end
  end
  local longest = ""
  for piece in (translated .. "|"):gmatch("%s*(.-)%s*[|\n]") do
    if #piece > #longest then longest = piece end
  end
  for number, text in ipairs(files[own] or {}) do
    local at = text:find(longest:sub(1, 40), 1, true)
    if at then return own .. ":" .. number .. ":" .. at end
  end
  return path .. ":" .. line .. ":1"
end

local passages = 0
local function check(entry)
  if not entry.msgid or entry.msgid == "" or entry.fuzzy or not entry.msgstr or entry.msgstr == "" then return end
  if (entry.msgctxt or ""):find("@", 1, true) then return end   -- of titles and descriptions nothing says which source they were made from
  if entry.msgid:find("\\text{", 1, true) then return end          -- a formula
  if (entry.msgctxt or ""):find("/[cx]%d+$") then return end       -- code and worked examples
  passages = passages + 1
  -- What is quoted may stay as it is, and so may a name of a program's own that is set off: *Allocator State History*.
  local kept = entry.msgid:gsub("“.-”", " "):gsub("%*([^*]+)%*", function(name) return entry.msgstr:find(name, 1, true) and " " or nil end)
  local source, text = prose(kept), prose(entry.msgstr)
  for _, row in ipairs(terms) do
    local avoided = has_any(text, row.avoid)
    if avoided then fail(place_of(entry.place, entry.msgstr), "\"" .. avoided .. "\" for \"" .. row.term .. "\": the term base has " .. row.cell) end
    if #row.words > 0 and has_term(source, row.term) and not has_any(text, row.words) then
      fail(place_of(entry.place, entry.msgstr), "\"" .. row.term .. "\" is in the source, and none of: " .. row.cell)
    end
  end
end

local entry, field = {}, nil
for _, line in ipairs(lines_of(po)) do
  if line == "" then
    check(entry)
    entry, field = {}, nil
  elseif line:sub(1, 3) == "#: " then entry.place = line:sub(4)
  elseif line:find("^#, .*fuzzy") then entry.fuzzy = true
  elseif line:sub(1, 1) ~= "#" then
    local name = line:match("^(%a+) ")
    field = name or field
    entry[field] = (entry[field] or "") .. unquoted(line)
  end
end
check(entry)

-- ---- the catalogs ---------------------------------------------------------------------------

for _, catalog in ipairs {"i18n/" .. language .. ".json", "i18n/calculator/" .. language .. ".json"} do
  for number, line in ipairs(lines_of(catalog)) do
    local value = lower(line:match('^%s*"[^"]*":%s*(.*)$') or "")
    for _, row in ipairs(terms) do
      local avoided = has_any(value, row.avoid)
      if avoided then
        local kept = row.cell == "-" and "" or ": the term base has " .. row.cell
        fail(catalog .. ":" .. number .. ":1", "\"" .. avoided .. "\" for \"" .. row.term .. "\"" .. kept)
      end
    end
  end
end

if #terms == 0 or passages == 0 then fail(base, #terms .. " terms and " .. passages .. " passages: nothing was checked") end
if failures == 0 then print("ok terms: " .. language .. ", " .. #terms .. " terms, " .. passages .. " passages") end
os.exit(failures == 0)
