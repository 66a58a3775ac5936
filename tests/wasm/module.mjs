// The module itself: its size, that it imports nothing, its memory over many calls, hostile calls, pasted texts.

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { check, finish, open, wasmFile, wholeFile } from './calc.mjs';

const calc = await open();
const module = new WebAssembly.Module(readFileSync(wasmFile));
const size = statSync(wasmFile).size;
// without wasm-opt the linker's own module is as good, and larger
const most = spawnSync('wasm-opt', ['--version']).status === 0 ? 226200 : 269400;
check(`at most ${most / 1000} kB`, size <= most, `${size} bytes`);
// what counts is what a page transfers for its first number (tests/browser/transfer.mjs), of which this is three quarters
const packed = brotliCompressSync(readFileSync(wasmFile)).length;
check('at most 84.1 kB with brotli', packed <= 84100, `${packed} bytes`);
// The whole library comes after the first number, and a reader waits for it with a pasted file.
const whole = brotliCompressSync(readFileSync(wholeFile)).length;
check('the whole one: at most 303 kB with brotli', whole <= 303000, `${whole} bytes`);
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
check('a length beyond the input is refused', raw.flat(1 << 28) === EARG);
check('an ask that is not one is refused', raw.answer(99) === EARG);
check('a text of 3 GB finds no memory', raw.input(3 * 2 ** 30) === 0);
check('and the module still works', rawEstimate('preset = gpt2\n') === 0);

// Errors are JSON. Lines are set in the order that they need: the preset first.
const wrong = calc.estimate('preset = gpt2\nn_layers_ = 3\n');
check('an unknown key is an error', wrong.code === -2 && wrong.value.error, wrong.text);
check('what is meant is told', wrong.value?.error?.args?.near === 'n_layer', wrong.text);
check('a preset is set before other lines', calc.estimate('n_layer = 3\r\n\n  preset=gpt2  \n').value?.config?.n_layer === 3);
check('a line without a value is an error', calc.estimate('batch_size\n').code !== 0);
check('a broken model is an error', calc.estimate('n_embd = 512\nn_head = 12\n').code === -5);

// Whatever is pasted is read by the whole module.
const larger = await open(wholeFile);
check('a kind that is not one is refused', larger.parse('auto', '[').code !== 0);
const hf = larger.read('{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,' +
                     '"intermediate_size": 1024, "vocab_size": 32000, "rope_scaling": {"type": "linear", "factor": 2.0},' +
                     '"architectures": ["LlamaForCausalLM"], "pad_token_id": null, "max_position_embeddings": 256}');
check('a config.json is read', hf.kind === 'hf' && hf.code === 0, hf.text);
check('and estimated', larger.ask('report').value?.params > 0);
check('broken JSON is an error', larger.read('{"a": ').code !== 0);
larger.clear();
const oom = larger.read('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of ' +
                      '11.99 GiB of which 2.10 GiB is free.');
check('an out-of-memory message is explained', oom.kind === 'oom' && oom.code === 0, oom.text);
larger.clear();
const python = larger.read("# a config\nwandb_log = False\nbatch_size = 4\nblock_size = 256\nn_layer = 2\nn_head = 2\nn_embd = 128\nlearning_rate = 6e-4\n");
check('a Python file is read', python.kind === 'nanogpt' && python.code === 0, python.text);
larger.clear();
const yaml = larger.read('base_model: meta-llama/Llama-3.2-1B\nsequence_len: 2048\nmicro_batch_size: 2\ndatasets:\n  - path: x\n    type: alpaca\n' +
                       'adapter: lora\nlora_r: 16\nlora_target_linear: true\n');
check("axolotl's YAML is read", yaml.kind === 'axolotl' && yaml.code === 0, yaml.text);
check('and its rank', larger.ask('report').value?.config?.lora_rank == 16);
larger.clear();
const toml = larger.read('[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 4096\nlocal_batch_size = 1\n');
check("torchtitan's TOML is read, and not as nanoGPT's", toml.kind === 'torchtitan' && toml.code === 0, toml.text);
check('its length is read', larger.ask('report').value?.config?.seq_len == 4096);
larger.clear();
const command = larger.read('CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 train.py --model_name_or_path meta-llama/Llama-3.2-1B \\\n' +
                          '  --per_device_train_batch_size 3 --fsdp "full_shard auto_wrap" --bf16 True\n');
check('a command line is read', command.kind === 'trainer' && command.code === 0, command.text);
check('and its cards', larger.ask('report').value?.config?.n_gpu == 2 && larger.ask('config').value?.parallel === 'fsdp2');
larger.clear();
const server = larger.read('vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 --quantization awq\n');
check("a server's command is read", server.kind === 'vllm' && server.code === 0 && larger.ask('config').value?.quantization === 'awq', server.text);
larger.clear();
const gpt = larger.read('python train.py --batch_size=7 --n_layer=4 --compile=False');
check("nanoGPT's command is read", gpt.kind === 'flat' && gpt.code === 0 && larger.ask('config').value?.n_layer == 4, gpt.text);
larger.clear();
check('a file that a command names is asked for', larger.read('llamafactory-cli train x.yaml\n').value?.error?.id === 'file_first');
larger.clear();
check('advice is JSON', typeof larger.ask('advise').value === 'object');
for (const what of ['config', 'gpus', 'presets', 'fields', 'timeline'])
    check(`${what} is JSON`, typeof calc.ask(what).value === 'object');

// The timeline of a step: few moments, and the peak is one of them.
const report = calc.estimate('preset = gpt2\nbatch_size = 4\n').value, line = calc.ask('timeline').value;
const sum = (point) => point.slice(1).reduce((a, b) => a + b, 0);
const workspace = line.categories.indexOf('workspaces') + 1;
const top = line.points.find((p) => p[0] === line.peak_event);
check('the peak is a moment of the timeline', top && sum(top) === line.peak_bytes, JSON.stringify(top));
check('and the report\'s', line.peak_bytes - top[workspace] === report.peak_live_bytes, `${line.peak_bytes} ${report.peak_live_bytes}`);
check('at most 720 moments in their order', line.points.length <= 720 && line.points.length > 300 &&
      line.points.every((p, i) => i === 0 || p[0] > line.points[i - 1][0]), `${line.points.length}`);
check('the phases are the run\'s', line.phases.length > 4 && line.phases.at(-1).end === line.events);
const rows = calc.ask('fields').value, row = (key) => rows.find((r) => r.key === key);
const length = row('seq_len'), types = new Set(rows.map((r) => r.type));
check('a field has group, unit, limits and other names', length.group === 'run' && length.unit === 'tokens' && length.type === 'count' &&
      length.max > 1e6 && length.aliases.includes('seqlen'));
check('fields are of seven types', ['count', 'bool', 'fraction', 'enum', 'set', 'version', 'list'].every((t) => types.has(t)) && types.size === 7);
check('their values are set as they are listed', rows.filter((r) => r.type === 'enum').every((r) => r.values.every((v) =>
      [0, -5, -10].includes(calc.parse('flat', `${r.key} = ${v}\n`).code))));
calc.clear();
finish();
