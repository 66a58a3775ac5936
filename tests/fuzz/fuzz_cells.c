// Inline cells: every one found lies in the text, behind the one before, and is a cell by the other
// function too.
#include "gen/text/cells.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str s = fuzz_text(data, size), code;
    size_t from = 0, end = 0;
    for (size_t at; (at = cell_next(s, from, &code, &end)) < s.len; from = end) {
        fuzz_check(at >= from && end > at && end <= s.len, "a cell outside of the text\n");
        fuzz_check(s.ptr[at] == '`' && s.ptr[end - 1] == '`', "a cell without its backticks\n");
        fuzz_check(code.len == 0 || (code.ptr >= s.ptr + at && code.ptr + code.len <= s.ptr + end),
                   "code outside of its cell\n");
    }
    cell_inline(s, &code);
    cell_fence(s);
    cell_output(s);
    return 0;
}
