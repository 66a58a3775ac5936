// The Lua 5.4 binding of libvram.
//
//     local r = vram.estimate{preset = "gpt2", batch_size = 8, gpu = "RTX 4070"}
//     r.peak_reserved_bytes, r.at_peak[1].name    -- the fields of `vramcalc estimate --format
//     json`
//
// A configuration is a table of fields (numbers, strings, booleans), or a string of key = value
// lines. The functions of vram:
//
//     estimate(config)              the report, schema vramcalc/1; sizes are integers, in bytes
//     live_peak(config)             peak of live bytes alone, fast
//     step_seconds(config)          of an optimizer step, by a roofline: for ratios
//     params(config)                tensors: name, block, rows, cols, bytes, decayed, trained
//     trace(config [, f])           list of events, or f(event) for each until it returns true
//     compare(config)               the same configuration by other people's formulas
//     advise(config)                ranked changes; a plan needs a gpu
//     fit(config)                   whether it fits in the gpu, and by how much
//     max_batch(config)             the largest batch_size that fits
//     solve(field, config)          the largest or smallest value of a count that fits
//     cards(config)                 every card, and up to 8 of each, that the run fits
//     serve(config)                 how many sequences, and how long a context, have room
//     segments(config [, moment])   the allocator's segments and blocks: at "peak",
//                                   "growth" (default), "end", or after an event
//     explain_oom(text [, config])  which tensor an out-of-memory message is about
//     snapshot(bytes [, config])    what torch.cuda.memory._dump_snapshot wrote
//     config(text [, kind])         fields that a text sets (kind: flat, hf, axolotl, auto,
//                                   ...) and its warnings; of a list of texts each is over
//                                   what came before, and its own keys say what it is
//     gpu(name), gpus()             a card, all cards: name, memory_bytes, cuda_bytes, ...
//     emit(config, format)          the report as text: text, json, csv, md
//     timeline(config)              SVG
//     version
//
// Errors are raised as strings that name the key which is wrong: "vram.estimate: n_embd: ...".

#ifndef VRAM_LUA_H
#define VRAM_LUA_H

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

// For luaL_requiref and package.preload: leaves the module's table on the stack. Memory of the
// library comes from the state's own allocator, so that a limit on the state holds for it too.
int luaopen_vram(struct lua_State *L);

#ifdef __cplusplus
}
#endif

#endif
