/* What the parts of the null CUDA share: the card, its memory, handles, and how far it is. */
#ifndef NULLCUDA_H
#define NULLCUDA_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

typedef struct {
    const char *key, *name;
    int major, minor, multiprocessors, shared_optin, threads_per_multiprocessor;
    size_t total;
} Card;

extern __thread int null_current_device;
const Card *null_card(void);
int null_device_count(void);
int null_attribute(int which);

/* A handle that no other thing has. */
void *null_handle(void);

/* Address space of SIZE bytes; the kernel gives pages only to what is written. NULL where the card
 * is full. */
void *null_reserve(size_t size, bool host);
void null_release(void *at);

/* Bytes of the card that are handed out. */
size_t null_used(void);

/* One kernel more is given to the card; everything that it was given has run. */
cudaError_t null_launch(void);
void null_wait_for_all(void);

#pragma GCC visibility pop

#endif
