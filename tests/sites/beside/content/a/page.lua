local read = require "read"
local lines = read.lines(contents("sizes.tsv"))
local rows, sum = {}, 0
for i, line in ipairs(lines) do
  rows[i] = {line.name, MiB(reported(line.bytes, "B", "sizes.tsv")), i == 2 and "figure.missing" or nil}
  sum = sum + line.bytes
end
assert(require "read" == read, "a module runs once")
return {sizes = computed(#lines, "", "sizes.tsv"), sum = computed(sum, "B", "sizes.tsv"),
  list = {title = "Sizes", columns = {"name", "size", "figure.source"}, rows = rows}}
