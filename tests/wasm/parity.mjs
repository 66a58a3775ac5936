// The same JSON from the page's whole module as from the command, byte for byte but for the English of notes and reasons, for which
// the page has its own words, on every line of parity-configs.txt; and, bounds aside, from the module of the first
// number, or a refusal.

import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, check, finish, flat, ofTheSmall, open, root, sentence, wholeFile, withoutBounds, withoutEnglish } from './calc.mjs';

const small = await open(), whole = await open(wholeFile);
const configs = readFileSync(join(root, 'tests/calc/parity-configs.txt'), 'utf8').trim().split('\n');
let estimates = 0, first = 0;

// Where two texts part, with a little around it.
function difference(a, b) {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return `command ...${a.slice(Math.max(0, i - 30), i + 40)}... wasm ...${b.slice(Math.max(0, i - 30), i + 40)}...`;
}

function compareWhole(config, command, answer) {
    if (command.status !== 0) {
        const message = answer.value?.error ? sentence(answer.value.error) : '';
        check(config, answer.code !== 0 && message && command.stderr.includes(message),
              `command: ${command.stderr.trim()} wasm: ${answer.code} ${message}`);
        return;
    }
    estimates++;
    const wanted = withoutEnglish(command.stdout.trimEnd());
    check(config, answer.code === 0 && answer.text.trimEnd() === wanted, difference(wanted, answer.text));
}

for (const config of configs) {
    const words = config.split(' ');
    const command = spawnSync(join(build, 'vramcalc'), ['estimate', '--format', 'json', ...words], { encoding: 'utf8' });
    compareWhole(config, command, whole.estimate(flat(words)));
    const answer = small.estimate(flat(words));
    if (answer.code !== 0) continue;
    first++;
    const wanted = withoutBounds(ofTheSmall(withoutEnglish(command.stdout.trimEnd()))), text = withoutBounds(answer.text.trimEnd());
    check(`at first: ${config}`, text === wanted, difference(wanted, text));
}
check('enough of them are possible', configs.length === 200 && estimates >= 150 && first >= 100, `${estimates} and ${first} of ${configs.length}`);
finish();
