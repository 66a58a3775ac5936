// The module itself: its size, that it imports nothing, its memory over many calls, hostile calls, pasted texts.

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { check, finish, open, wasmFile } from './calc.mjs';

const calc = await open();
const module = new WebAssembly.Module(readFileSync(wasmFile));
const size = statSync(wasmFile).size;
// without wasm-opt the linker's own module is as good, and larger
const most = spawnSync('wasm-opt', ['--version']).status === 0 ? 225000 : 236000;
check(`at most ${most / 1000} kB`, size <= most, `${size} bytes`);
check('imports nothing', WebAssembly.Module.imports(module).length === 0);

// Memory: a thousand runs after the first hundred do not make it grow.
const raw = new WebAssembly.Instance(module, {}).exports;
function rawEstimate(text) {
    const bytes = new TextEncoder().encode(text);
    const at = raw.input(bytes.length);
    new Uint8Array(raw.memory.buffer, at, bytes.length).set(bytes);
    return raw.estimate(bytes.length);
}
let codes = 0;
for (let i = 0; i < 100; i++) codes |= rawEstimate(`preset = gpt2\nbatch_size = ${1 + (i % 16)}\n`);
const before = raw.memory.buffer.byteLength;
for (let i = 0; i < 1000; i++) codes |= rawEstimate(`preset = gpt2\nbatch_size = ${1 + (i % 16)}\n`);
check('a thousand estimates need no more memory', codes === 0 && raw.memory.buffer.byteLength === before,
      `${before} -> ${raw.memory.buffer.byteLength}`);

// Calls that no page would make: codes, and no trap.
const EARG = -12;
check('a length beyond the input is refused', raw.parse(0, 1 << 28) === EARG);
check('a kind that is not one is refused', raw.parse(99, 0) === EARG);
check('an ask that is not one is refused', raw.answer(99) === EARG);
check('a text of 3 GB finds no memory', raw.input(3 * 2 ** 30) === 0);
check('and the module still works', rawEstimate('preset = gpt2\n') === 0);

// Errors are JSON with a place.
const wrong = calc.estimate('preset = gpt2\nn_layers_ = 3\n');
check('an unknown key is an error', wrong.code === -2 && wrong.value.error, wrong.text);
check('its line is told', wrong.value?.error?.line === 2, wrong.text);
check('a broken model is an error', calc.estimate('n_embd = 512\nn_head = 12\n').code === -5);

// Whatever is pasted.
const hf = calc.read('{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,' +
                     '"intermediate_size": 1024, "vocab_size": 32000, "rope_scaling": {"type": "linear", "factor": 2.0},' +
                     '"architectures": ["LlamaForCausalLM"], "pad_token_id": null, "max_position_embeddings": 256}');
check('a config.json is read', hf.kind === 'hf' && hf.code === 0, hf.text);
check('and estimated', calc.ask('report').value?.params > 0);
check('broken JSON is an error', calc.read('{"a": ').code !== 0);
calc.clear();
const oom = calc.read('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of ' +
                      '11.99 GiB of which 2.10 GiB is free.');
check('an out-of-memory message is explained', oom.kind === 'oom' && oom.code === 0, oom.text);
calc.clear();
const python = calc.read("# a config\nbatch_size = 4\nblock_size = 256\nn_layer = 2\nn_head = 2\nn_embd = 128\nlearning_rate = 6e-4\n");
check('a Python file is read', python.kind === 'nanogpt' && python.code === 0, python.text);
for (const what of ['config', 'advise', 'gpus', 'presets'])
    check(`${what} is JSON`, typeof calc.ask(what).value === 'object');
finish();
