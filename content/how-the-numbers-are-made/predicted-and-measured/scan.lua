-- Reads a cell word by word against a vocabulary.
--
-- A vocabulary is a list of entries {pattern, meaning}: a Lua pattern of lower-case text, and the facts that it states: a table
-- of them, or a function of the pattern's captures that returns one. At each place the entry that matches the most characters
-- counts, and it must end where a word ends. What no entry matches is what the cell says and nobody understands.
local scan = {}

local BETWEEN = "[%s,;:+&()%[%]/|]"

-- Other ways to write the same, one after the other: a setting by its name in a file ("use_cache=False") is its word with "no", and
-- one that is on is the word; a list behind a setting is the list. "bf16=True" is a word of its own, for what a trainer makes of it.
local spellings = {
  {"%f[%w]w/o%s+", "no "}, {"%f[%w]without%s+", "no "}, {"%f[%w]w/%s+", ""},
  {"([%w_%.]+)%s*[=:]%s*false%f[^%w]", "no %1"}, {"(use_[%w_]+)%s*[=:]%s*true%f[^%w]", "%1"},
  {"%f[%w]lora_target%s*[=:]%s*", ""}, {"target_modules?%s*[=:]%s*", ""}, {"modules_to_save%s*[=:]%s*", "modules_to_save "},
  {"attn_implementation%s*[=:]%s*", "attention "}, {"%f[%w]attn%s*[=:]%s*", "attention "}, {"%f[%w]attention%s*[=:]%s*", "attention "},
}

local function plain(cell)
  local text = cell:lower():gsub("%s+", " ")
  for _, entry in ipairs(spellings) do text = text:gsub(entry[1], entry[2]) end
  return text
end

local ON = "^%s*=%s*true%f[^%w]"   -- behind a word that is on

local function ends_word(text, at)
  return at > #text or text:find("^" .. BETWEEN, at) ~= nil or text:find("^" .. BETWEEN, at - 1) ~= nil or text:find(ON, at) ~= nil
end

local function longest(text, at, vocabulary)
  local best, stop
  for _, entry in ipairs(vocabulary) do
    local _, last = text:find("^" .. entry[1], at)
    if last and last >= at and (not stop or last > stop) and ends_word(text, last + 1) then
      best, stop = entry, last
    end
  end
  return best, stop
end

local function meaning_of(entry, text, at)
  local meaning = entry[2]
  if type(meaning) == "function" then return meaning(text:match("^" .. entry[1], at)) end
  return meaning
end

local function word_at(cell, at)
  return (cell:match("^[^%s,;()%[%]]+", at) or cell:sub(at))
end

-- Adds to facts what the cell states. Returns nil; or what is wrong, as a sentence: "unknown WHAT 'boft'".
function scan.cell(what, cell, vocabulary, facts)
  local text, at = plain(cell), 1
  while true do
    local _, skipped = text:find("^" .. BETWEEN .. "+", at)
    at = skipped and skipped + 1 or at
    if at > #text then return nil end
    local entry, stop = longest(text, at, vocabulary)
    if not entry then return ("unknown %s '%s'"):format(what, word_at(#text == #cell and cell or text, at)) end
    for name, value in pairs(meaning_of(entry, text, at) or {}) do
      if facts[name] ~= nil and facts[name] ~= value then
        return ("%s '%s' says %s=%s, and %s is said too"):format(what, cell, name, tostring(value), tostring(facts[name]))
      end
      facts[name] = value
    end
    local _, on = text:find(ON, stop + 1)
    at = (on or stop) + 1
  end
end

return scan
