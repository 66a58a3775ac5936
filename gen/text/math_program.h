// blahtexml as a process that stays: it is asked formula after formula.
#ifndef GEN_TEXT_MATH_PROGRAM_H
#define GEN_TEXT_MATH_PROGRAM_H

#include <sys/types.h>

#include "gen/base/arena.h"
#include "gen/base/buf.h"

// How long a formula may take, the program's start included, on the clock.
enum { MATH_PROGRAM_WAIT_MS = 10000 };

// A process that runs, or none yet. Of one process of ours: not to be shared across a fork.
struct math_program {
    pid_t pid;     // 0: none
    int to, from;  // its standard input, a socket; its standard output, a pipe
    unsigned wait_ms;
    size_t asked, answered;  // formulas of this process
    buf out, in;             // what it is to read; what it said and has not been taken
    size_t sent, looked;     // of out; of in, without the end of an answer
};

#define MATH_PROGRAM_INIT(wait) \
    ((struct math_program){.wait_ms = (wait), .in = BUF_INIT, .out = BUF_INIT})

enum math_outcome {
    MATH_CONVERTED,  // text is what is inside of <math>
    MATH_REFUSED,    // text is what blahtexml says about the formula
    MATH_FAILED      // text is why there is no answer
};

struct math_question {
    str tex;  // without control characters but white space
    bool display;
    enum math_outcome outcome;
    str text;
};

// Answers all questions, in texts of the arena. Starts the program where none runs. A formula that
// takes too long, or that ends the program twice, has failed; those behind it are asked again.
void math_program_ask(struct math_program *p, struct math_question *questions, size_t count,
                      arena *a);
void math_program_end(struct math_program *p);

#endif
