// What the tests of vram.wasm share: the module opened through the page's own script, and result lines.

import { readFileSync, existsSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { fileURLToPath } from 'node:url';
import { basename, dirname, join } from 'node:path';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const build = process.env.BUILD ?? join(root, 'build');
// The module of a page's first number, and the whole one, which comes after it.
export const wasmFile = join(build, 'vram.wasm'), wholeFile = join(build, 'vram-whole.wasm');

// A calculator with memory of its own. Ends the test where the module was not built.
export async function open(file = wasmFile) {
    if (!existsSync(file)) {
        console.log(`skip ${basename(file)}: it was not built`);
        process.exit(0);
    }
    if (!globalThis.vramOpen) runInThisContext(readFileSync(join(root, 'calc/wasm/vram.js'), 'utf8'), 'calc/wasm/vram.js');
    return globalThis.vramOpen(readFileSync(file));
}

let failed = 0;

export function check(name, good, why = '') {
    if (!good) failed++;
    console.log(good ? `ok ${name}` : `not ok ${name}: ${why}`);
}

export function finish() {
    process.exitCode = failed ? 1 : 0;
}

// The words of a configuration as the command takes them, and as flat lines.
export const flat = (words) => words.map((w) => w.replace('=', ' = ') + '\n').join('');

// Fields that the first module leaves out.
const fieldsOfTheWhole = [...readFileSync(join(root, 'calc/model/fields.def'), 'utf8').matchAll(/^#ifndef VRAM_SMALL.*\n((?:FIELD.*\n)+)#endif/gm)]
    .flatMap(([, rows]) => [...rows.matchAll(/^FIELD\(\w+, (\w+),/gm)].map(([, name]) => name));
const aloneLines = new RegExp(`^ *"(${fieldsOfTheWhole.join('|')})": .*\\n`, 'gm');

// A report of the command as a module writes it: a sentence is its id and its values there; and as the first one does.
export const withoutEnglish = (json) => json.replace(/^(\s*"text": )".*"(,?)$/gm, '$1""$2');
export const ofTheSmall = (json) => json.replace(aloneLines, '');

// Without the bounds, of which the first module knows those of the coarse kinds alone (accuracy.def).
const boundLines = /^ *"(low|high|tolerance_percent|measurements|wider_kind|kind)": .*\n/gm;
export const withoutBounds = (json) => json.replace(boundLines, '');

// An error of the module in the command's English: its sentence is its id and its values there.
const english = JSON.parse(readFileSync(join(root, 'i18n/calculator/en.json'), 'utf8'));
export const sentence = (error) => english[error.id].replace(/\{(\w+)\}/g,
    (all, name) => (name === 'field' ? error.field : error.args[name] ?? all));
