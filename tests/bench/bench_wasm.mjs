// vram.wasm beside the native library: estimates with their JSON a second, in Node. The limit is half the native rate.
//     node tests/bench/bench_wasm.mjs    after ./build.sh and make build/tests/bench/bench_calc

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, wasmFile } from '../wasm/calc.mjs';

const raw = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmFile)), {}).exports;
const texts = Array.from({ length: 16 }, (_, i) => new TextEncoder().encode(
    `preset = gpt2\nmode = reference\nbatch_size = ${1 + i}\n`));

function estimate(bytes) {
    const at = raw.input(bytes.length);
    new Uint8Array(raw.memory.buffer, at, bytes.length).set(bytes);
    if (raw.estimate(bytes.length) !== 0) throw new Error('the estimate fails');
}

// Processor time, as in bench_calc. Best of many rounds: the first ones run before the module is compiled well.
function rate(rounds, each) {
    let best = Infinity;
    for (let round = 0; round < rounds; round++) {
        const start = process.cpuUsage();
        for (let i = 0; i < each; i++) estimate(texts[i % texts.length]);
        const { user, system } = process.cpuUsage(start);
        best = Math.min(best, (user + system) / each);
    }
    return 1e6 / best;
}

const native = spawnSync(join(build, 'tests/bench/bench_calc'), { encoding: 'utf8' }).stdout;
const wanted = Number(/^estimate and JSON\s+([\d.]+)/m.exec(native)[1]);
const got = rate(60, 64);
const good = got * 2 >= wanted;
console.log(`estimate and JSON, native          ${wanted.toFixed(1).padStart(12)} a second`);
console.log(`estimate and JSON, vram.wasm       ${got.toFixed(1).padStart(12)} a second     limit ${(wanted / 2).toFixed(0)}${good ? '' : '  MISSED'}`);
process.exitCode = good ? 0 : 1;
