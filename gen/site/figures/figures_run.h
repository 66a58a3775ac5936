// Running the Lua of a document: its page.lua once, cells and examples in an environment that they
// cannot change.
#ifndef GEN_SITE_FIGURES_RUN_H
#define GEN_SITE_FIGURES_RUN_H

#include "gen/site/figures/figures_lib.h"

// The value of an expression. False after an error was recorded at `at`.
bool figures_evaluate(struct figures *f, str code, struct diag_pos at, struct shown *out);
// Runs statements; what they print goes to out. False after an error was recorded.
bool figures_print(struct figures *f, str code, struct diag_pos at, buf *out);

#endif
