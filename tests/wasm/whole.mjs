// The whole module: every format of every answer, the same text as the command writes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, check, finish, flat, root, withoutEnglish } from './calc.mjs';

const file = join(build, 'vram-whole.wasm');
if (!existsSync(file)) {
    console.log('skip vram-whole.wasm: it was not built');
    process.exit(0);
}
const e = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), {}).exports;
const bytes = () => Buffer.from(e.memory.buffer, e.text_at(), e.text_bytes());
const memory = Buffer.from(e.memory.buffer);
const at = e.write_names();
const [answers, formats] = memory.subarray(at, memory.indexOf(0, at)).toString().trim().split('\n')
    .map((group) => group.trim().split(' '));

const words = ['preset=gpt2', 'n_layer=3', 'batch_size=2'];
const text = Buffer.from(words.map((w) => w.replace('=', ' = ') + '\n').join(''));
const room = e.input(text.length);  // the memory may grow by it
Buffer.from(e.memory.buffer, room, text.length).set(text);
check('the configuration is read', e.estimate(text.length) === 0);

const command = (...args) => spawnSync(join(build, 'vramcalc'), [...args, ...words], { maxBuffer: 1 << 28 }).stdout;
for (const [answer, format, verb] of [['trace', 'csv', 'trace'], ['trace', 'viz', 'trace'], ['trace', 'json', 'trace'],
                                      ['trace', 'perfetto', 'trace'], ['report', 'csv', 'estimate']]) {
    const code = e.write(answers.indexOf(answer), formats.indexOf(format));
    check(`${answer} as ${format}`, code === 0 && bytes().equals(command(verb, '--format', format)), `code ${code}`);
}
check('the picture is SVG', e.write(answers.indexOf('timeline'), formats.indexOf('svg')) === 0 &&
      bytes().toString().startsWith('<svg'));

// Searches: the same answers as the command's, but for the English.
const put = (words) => {
    const flat = Buffer.from(words);
    const to = e.input(flat.length);
    Buffer.from(e.memory.buffer, to, flat.length).set(flat);
    return flat.length;
};
// Of versions whose compiled models and units of FSDP2 the page has no room for the command says more, and of bfloat16 on cards
// without its arithmetic.
const tuned = ['preset=llama-3.2-1b', 'dtype=float16', 'checkpointing=block', 'gpu=RTX 4090', 'transformers=4.57'];
const tell = (...args) => withoutEnglish(spawnSync(join(build, 'vramcalc'), [...args, '-f', 'json', ...tuned], { maxBuffer: 1 << 26 }).stdout.toString());
check('a configuration for searches', e.estimate(put(flat(tuned))) === 0);
for (const field of ['batch_size', 'seq_len', 'lora_rank'])
    check(`solve ${field}`, e.solve(put(field)) === 0 && bytes().toString() === tell('solve', field), bytes().toString());
check('advise', e.advise() === 0 && bytes().toString() === tell('advise'), bytes().toString());
check('cards', e.cards() === 0 && bytes().toString() === tell('cards'), '');
const served = ['preset=llama-3.1-8b', 'quantization=awq', 'seq_len=4096', 'gpu=RTX 4090'];
e.estimate(put(flat(['task=inference', ...served])));
check('serve', e.serve() === 0 && bytes().toString() === withoutEnglish(spawnSync(join(build, 'vramcalc'), ['serve', '-f', 'json', ...served])
    .stdout.toString()), bytes().toString());
check('compare', (e.estimate(put(flat(tuned))), e.compare()) === 0 && bytes().toString() === tell('compare'), bytes().toString());
// A memory snapshot, alone and beside the estimate; what is none is refused with a reason.
const dumps = join(root, 'tests/cli/calc_snapshot');
const place = (file) => { const data = readFileSync(join(dumps, file)), to = e.input(data.length); data.copy(Buffer.from(e.memory.buffer, to, data.length)); return data.length; };
const snapshot = (file, ...words) => withoutEnglish(spawnSync(join(build, 'vramcalc'), ['snapshot', '-f', 'json', join(dumps, file), ...words]).stdout.toString());
for (const file of ['step2.pickle', 'step4.pickle', 'segments.pickle']) {
    check(`${file} alone`, e.snapshot(place(file), 0) === 0 && bytes().toString() === snapshot(file), bytes().toString().slice(0, 300));
    check(`${file} beside the estimate`, e.snapshot(place(file), 1) === 0 && bytes().toString() === snapshot(file, ...tuned), bytes().toString().slice(0, 300));
}
for (const [file, id] of [['cut.pickle', 'pickle_short'], ['hostile.pickle', 'pickle_calls'], ['other.pickle', 'snapshot_no_members']])
    check(`${file} is refused`, e.snapshot(place(file), 0) !== 0 && JSON.parse(bytes()).error.id === id, bytes().toString());
check('a field that is none is refused', e.solve(put('batch_sise')) === -2 && JSON.parse(bytes()).error.id === 'unknown_key_near');
const EARG = -12, ENOTRUN = -11;
check('a trace as Markdown is refused', e.write(answers.indexOf('trace'), formats.indexOf('md')) === EARG);
check('what is neither answer nor format is refused', e.write(999, 999) === EARG);
check('an answer that was not asked for is not there', e.write(answers.indexOf('segments'), formats.indexOf('text')) === ENOTRUN);
finish();
