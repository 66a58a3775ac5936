-- What is English on pages in another language: lua english.lua SITE LANG/PAGE... prints "LANG/PAGE: text" for each piece of text
-- that has three English words in a row and stands on the English page too. Code, scripts and what an error says are not looked at.
local site = arg[1]

local function contents(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- The pieces of text between the tags of a page, code and scripts left out.
local function pieces(html)
  for _, element in ipairs{"script", "style", "pre", "code", "kbd", "q", "em"} do
    html = html:gsub("<" .. element .. "[%s>].-</" .. element .. ">", "\1")
  end
  local list = {}
  for text in html:gsub("<!%-%-.-%-%->", ""):gmatch(">([^<]+)<") do
    for piece in text:gmatch("[^\1]+") do list[#list + 1] = piece:gsub("%s+", " "):match("^ ?(.-) ?$") end
  end
  return list
end

local WORD = "%l[%l’'-]+"
local ENGLISH = "%f[%a]" .. table.concat({WORD, WORD, WORD}, " ") .. "%f[^%a]"

local found = 0
for i = 2, #arg do
  local language, page = arg[i]:match("^([^/]+)/(.*)$")
  local english = contents(site .. "/en/" .. page)
  if language ~= "en" and english then
    local known = {}
    for _, piece in ipairs(pieces(english)) do known[piece] = true end
    for _, piece in ipairs(pieces(contents(site .. "/" .. arg[i]))) do
      if known[piece] and piece:gsub("out of memory", ""):gsub("“[^”]*", ""):find(ENGLISH) then
        found = found + 1
        print(arg[i] .. ": " .. piece)
      end
    end
  end
end
os.exit(found == 0)
