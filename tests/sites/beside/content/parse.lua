return function(line)
  local name, bytes = line:match("^([^\t]+)\t(%d+)$")
  return {name = name, bytes = tonumber(bytes)}
end
