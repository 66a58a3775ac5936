// The second module: every format of every answer, the same text as the command writes.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, check, finish } from './calc.mjs';

const file = join(build, 'vram-export.wasm');
if (!existsSync(file)) {
    console.log('skip vram-export.wasm: it was not built');
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
const EARG = -12, ENOTRUN = -11;
check('a trace as Markdown is refused', e.write(answers.indexOf('trace'), formats.indexOf('md')) === EARG);
check('what is neither answer nor format is refused', e.write(999, 999) === EARG);
check('advice that nobody asked for is not there', e.write(answers.indexOf('advice'), formats.indexOf('text')) === ENOTRUN);
finish();
