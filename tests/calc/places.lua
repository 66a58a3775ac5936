-- Answers of the Lua binding as JSON: a line "verb<TAB>argument<TAB>key=value<TAB>..." of the standard input, a line of the output. What
-- is refused is {"refused": "why"}.
local function quoted(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end
local function json(value)
  if type(value) == "string" then return quoted(value) end
  if type(value) ~= "table" then return value == nil and "null" or tostring(value) end
  local out = {}
  if #value > 0 or next(value) == nil then
    for i, item in ipairs(value) do out[i] = json(item) end
    return "[" .. table.concat(out, ",") .. "]"
  end
  for key, item in pairs(value) do out[#out + 1] = quoted(key) .. ":" .. json(item) end
  return "{" .. table.concat(out, ",") .. "}"
end
-- Those whose first argument is not the configuration.
local other = {
  solve = function(config, field) return vram.solve(field, config) end,
  ["explain-oom"] = function(config, text) return vram.explain_oom(text, config) end,
  segments = function(config, moment) return vram.segments(config, tonumber(moment) or moment) end,
}
for line in io.lines() do
  local words = {}
  for word in (line .. "\t"):gmatch("(.-)\t") do words[#words + 1] = word end
  local config = {}
  for i = 3, #words do
    local key, value = words[i]:match("^(.-)=(.*)$")
    config[key] = value
  end
  local ask = other[words[1]] or vram[words[1]]
  local done, answer = pcall(ask, config, words[2])
  print(json(done and answer or { refused = answer }))
end
