// From a finished run to struct vram_result: sums by category, by tensor, by phase, and error bounds.

#ifndef CALC_REPORT_H
#define CALC_REPORT_H

#include "calc/vram.h"

// The tolerances, stated once (per mille of the figure). The context is added to the process's own.
enum {
    REPORT_TOLERANCE_ALLOCATED = 10,
    REPORT_TOLERANCE_RESERVED = 30,
    REPORT_TOLERANCE_COMPILED = 50,
    REPORT_TOLERANCE_PROCESS = 50,
    REPORT_TOLERANCE_LLAMA = 5,
    REPORT_CONTEXT_MIB = 300,
    REPORT_CONTEXT_LOW_MIB = 200,
    REPORT_CONTEXT_HIGH_MIB = 430
};

#endif
