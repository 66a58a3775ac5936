-- Why a row has no figure, for a reader: a key of the catalog, or the word that the library lacks, as the table of the worst
-- writes it.
local reasons = {}

-- {pattern of the sentence, key}: refusals of the library and of what reads the columns.
local keys = {
  {"^compile of each block is modelled", "accuracy.why.compile_blocks"}, {"^sequence_parallel is modelled", "accuracy.why.compile_blocks"},
  {"^float8 .*is modelled", "accuracy.why.compile_blocks"},
  {"^offload_activations is modelled with .* with compile", "accuracy.why.compile_offloaded"},
  {"^pipeline_parallel with compile", "accuracy.why.compile_pipeline"},
  {"^optimizer_in_backward is modelled on one GPU", "accuracy.why.inside"},
  {"^the states of the optimizer that its file names", "accuracy.why.another_optimizer"},
  {"^the lengths of the sequences are not said", "accuracy.why.lengths"},
  {" not said", "accuracy.why.unsaid"}, {"^no %w+ is said", "accuracy.why.unsaid"},
}
-- From left to right on every page, as code.
local ISOLATED = "\u{2066}%s → –\u{2069}"
local lacking = {"^[%w_]+: unknown key '([^']*)'", "^unknown %w+ '([^']*)'"}

-- of(result): result as score.rows has it, without a figure.
function reasons.of(result)
  if result.outside then return "accuracy.outside." .. result.outside end
  local sentence = result.why:gsub("^cannot be said[^:]*: ", "")
  for _, pattern in ipairs(lacking) do
    local word = sentence:match(pattern)
    if word then return ISOLATED:format(word) end
  end
  for _, known in ipairs(keys) do
    if sentence:find(known[1]) then return known[2] end
  end
  return sentence
end

return reasons
