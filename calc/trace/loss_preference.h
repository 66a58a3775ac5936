// Log-probabilities of labels, as preference training takes them from a model.

#ifndef CALC_LOSS_PREFERENCE_H
#define CALC_LOSS_PREFERENCE_H

#include "calc/trace/graph.h"

// Runs a model on a batch; *logits gets what it returns.
typedef struct value pass_forward_fn(struct graph *g, uint32_t ids, uint32_t targets,
                                     struct value *logits);

// What one model says of a batch. The trainer's variables hold its logits, and what it made of
// them, until it has the loss: graph_none() where a function has returned with them.
struct preference {
    struct value rows, logits, shifted;
};

// Runs the model; the autocast that is around it is over.
struct preference loss_preference(struct graph *g, uint32_t ids, uint32_t targets,
                                  pass_forward_fn *forward);

// The entropy of each word and the means of the logits, which are logged.
void loss_preference_logged(struct graph *g, const struct preference *p);

void node_gather_rows(struct graph *g, const struct node *n, uint32_t results[]);
void node_selective(struct graph *g, const struct node *n, uint32_t results[]);

#endif
