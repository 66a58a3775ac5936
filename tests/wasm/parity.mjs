// The same JSON from the page's module as from the command, byte for byte but for the English of notes and
// reasons, for which the page has its own words, on every line of parity-configs.txt that the module does not leave to the command.

import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, check, finish, flat, open, root, withoutEnglish, sentence, leftToTheCommand } from './calc.mjs';

const calc = await open();
const configs = readFileSync(join(root, 'tests/calc/parity-configs.txt'), 'utf8').trim().split('\n');
let estimates = 0;

// Where two texts part, with a little around it.
function difference(a, b) {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return `command ...${a.slice(Math.max(0, i - 30), i + 40)}... wasm ...${b.slice(Math.max(0, i - 30), i + 40)}...`;
}

for (const config of configs) {
    const words = config.split(' ');
    const command = spawnSync(join(build, 'vramcalc'), ['estimate', '--format', 'json', ...words], { encoding: 'utf8' });
    const answer = calc.estimate(flat(words));
    if (command.status !== 0) {
        const message = answer.value?.error ? sentence(answer.value.error) : '';
        check(config, answer.code !== 0 && message && command.stderr.includes(message),
              `command: ${command.stderr.trim()} wasm: ${answer.code} ${message}`);
        continue;
    }
    if (answer.code !== 0) {
        check(config, leftToTheCommand(answer.value?.error), answer.text);
        continue;
    }
    estimates++;
    check(config, answer.text.trimEnd() === withoutEnglish(command.stdout.trimEnd()),
          difference(withoutEnglish(command.stdout), answer.text));
}
check('enough of them are possible', configs.length === 200 && estimates >= 100, `${estimates} of ${configs.length}`);

const divided = calc.estimate(flat('preset=llama-3.2-1b framework=torchtitan parallel=fsdp2 n_gpu=2 tensor_parallel=2 sequence_parallel=true'.split(' ')));
check("torchtitan's sequence parallelism is left to the command", divided.code !== 0 && leftToTheCommand(divided.value?.error), divided.text);
finish();
