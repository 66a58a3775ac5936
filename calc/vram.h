// libvram: a training configuration in, the GPU memory of the run out.
//
// A handle holds one configuration, the memory that the caller lends, the last error and the last
// answers. Nothing is global; two handles may be used by two threads at the same time.
//
//     struct vram_mem mem = vram_mem_malloc();
//     vram *v = vram_new(&mem);
//     vram_set(v, "preset", "gpt2");
//     vram_set(v, "batch_size", "8");
//     if (vram_run(v) == VRAM_OK)
//         printf("%llu\n", (unsigned long long)vram_result(v)->peak_reserved.bytes);
//     vram_free(v);
//
// Units: a size is a number of bytes in a uint64_t, unless its name says otherwise.
//
// Errors: a function that can fail returns VRAM_OK (0) or a negative enum vram_code, and
// vram_error(v) then has the message. A failed call leaves the handle usable.
//
// Owns: what a pointer in an answer points to belongs to the handle. It is valid until the next
// call that makes the same answer, or vram_free.
//
// ABI: a minor version adds functions, and members at the end of structs that the library fills.
// vram_abi_version() changes when anything that exists changes.

#ifndef VRAM_H
#define VRAM_H

#include "vram/base.h"
#include "vram/words.h"
#include "vram/handle.h"
#include "vram/config.h"
#include "vram/tables.h"
#include "vram/estimate.h"
#include "vram/segments.h"
#include "vram/fit.h"
#include "vram/advise.h"
#include "vram/explain.h"
#include "vram/visit.h"
#include "vram/write.h"

#endif
