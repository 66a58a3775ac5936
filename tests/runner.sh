#!/bin/sh
# run.sh in a folder of its own: what it counts of a test that does not compile, and of those beside it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset FILTER WITHOUT UPDATE V OWN_SITE MODE CFLAGS
failed=0
case_of() { if [ "$2" = "$3" ]; then echo "ok run.sh: $1"; else echo "not ok run.sh: $1: wanted '$3', got '$2'"; failed=1; fi; }

mkdir -p "$work/tests/unit" "$work/gen/base" "$work/calc/vram" "$work/build"
cp "$ROOT/Makefile" "$work/"
cp "$ROOT/tests/run.sh" "$work/tests/"
touch "$work/calc/vram.h" "$work/calc/vram/base.h"
printf '#!/bin/sh\n' >"$work/build/vramdoc"
chmod +x "$work/build/vramdoc"
cd "$work"
echo 'int answer(void);' >gen/base/answer.h
printf '#include "gen/base/answer.h"\nint answer(void) { return 42; }\n' >gen/base/answer.c
# test_of NAME CALL: a program of one test.
test_of() {
    printf '%s\n' '#include <setjmp.h>' '#include <stdarg.h>' '#include <stddef.h>' '#include <stdint.h>' \
        '#include <cmocka.h>' '#include "gen/base/answer.h"' 'static void test_answer(void **state)' '{' '    (void)state;' \
        "    assert_int_equal($2, 42);" '}' 'int main(void)' '{' \
        '    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answer)};' \
        '    return cmocka_run_group_tests(tests, NULL, NULL);' '}' >"tests/unit/test_base_$1.c"
}
# run: the lines of the suites in $work/log, without their seconds; its last line is printed.
run() {
    rc=0
    BUILD=build sh tests/run.sh >"$work/log" 2>&1 || rc=$?
    tail -n 1 "$work/log"
}
of_suite() { sed -n "s,^unit/test_base_$1  *\(.*\) in .*,\1,p" "$work/log"; }

test_of first 'answer()'
test_of last 'answer()'
case_of "two programs that compile" "$(run)" "2 passed, 0 failed, 0 skipped"
# The one between does not compile any more; its program of before is still there.
test_of middle 'answer()'
case_of "a third one" "$(run)" "3 passed, 0 failed, 0 skipped"
test_of middle 'answer(&state)'
case_of "one that does not compile fails" "$(run)" "2 passed, 1 failed, 0 skipped"
case_of "it does not pass by its program of before" "$(of_suite middle)" "0 passed, 1 failed, 0 skipped"
case_of "the one before it runs" "$(of_suite first)" "1 passed, 0 failed, 0 skipped"
case_of "the one after it runs" "$(of_suite last)" "1 passed, 0 failed, 0 skipped"
# A pointer to another type is no program, whatever the compiler's age.
test_of middle 'sizeof(take(state)) ? answer() : 0'
sed -i '/^static void test_answer/i static int take(const char *text) { return text != NULL; }' tests/unit/test_base_middle.c
case_of "nor does one that gives a pointer of another type" "$(run)" "2 passed, 1 failed, 0 skipped"
exit $failed
