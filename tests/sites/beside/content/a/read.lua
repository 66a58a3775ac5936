local parse = require "parse"
local read = {}

function read.lines(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = parse(line) end
  return list
end

return read
