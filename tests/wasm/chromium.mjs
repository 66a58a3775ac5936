// The same JSON in Chromium as from the command, on every line of parity-configs.txt: a page of one file, from file://,
// with the module as base64, as the site ships it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, check, finish, flat, open, root, wholeFile, withoutEnglish, sentence } from './calc.mjs';

await open(wholeFile);  // skips where the module was not built
const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);
if (!browser) {
    console.log('skip chromium: it is not there');
    process.exit(0);
}

const configs = readFileSync(join(root, 'tests/calc/parity-configs.txt'), 'utf8').trim().split('\n');
const texts = configs.map((config) => flat(config.split(' ')));

const page = `<!doctype html><meta charset="utf-8"><title>parity</title><pre id="out"></pre>
<script>${readFileSync(join(root, 'calc/wasm/vram.js'), 'utf8')}</script>
<script>
const bytes = Uint8Array.from(atob('${readFileSync(wholeFile).toString('base64')}'), (c) => c.charCodeAt(0));
vramOpen(bytes).then((calc) => {
    const answers = ${JSON.stringify(texts)}.map((text) => calc.estimate(text)).map(({ code, text }) => ({ code, text }));
    document.getElementById('out').textContent = btoa(JSON.stringify(answers).replace(/[^\\x00-\\x7f]/g,
        (c) => '\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')));
}, (e) => { document.getElementById('out').textContent = 'failed: ' + e; });
</script>`;

const work = mkdtempSync(join(tmpdir(), 'vram-chromium-'));
try {
    writeFileSync(join(work, 'page.html'), page);
    // Virtual time goes on while the module is compiled on another thread: on a busy machine the page can be dumped too early.
    let run, encoded = '';
    for (let tries = 0; tries < 4 && !encoded; tries++) {
        run = spawnSync(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
            `--user-data-dir=${join(work, 'profile')}`, '--virtual-time-budget=60000', '--dump-dom',
            `file://${join(work, 'page.html')}`], { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 120000 });
        encoded = /<pre id="out">([^<]*)<\/pre>/.exec(run.stdout ?? '')?.[1] ?? '';
    }
    if (!/^[A-Za-z0-9+/=]+$/.test(encoded)) {
        check('the page runs', false, encoded || (run.stderr ?? '').split('\n').slice(-3).join(' '));
    } else {
        const answers = JSON.parse(Buffer.from(encoded, 'base64').toString('latin1'));
        check('the page runs', answers.length === configs.length);
        configs.forEach((config, i) => compare(config, answers[i]));
    }
} finally {
    rmSync(work, { recursive: true, force: true });
}

function compare(config, answer) {
    const command = spawnSync(join(build, 'vramcalc'), ['estimate', '--format', 'json', ...config.split(' ')],
                              { encoding: 'utf8' });
    if (command.status === 0)
        check(config, answer.code === 0 && answer.text.trimEnd() === withoutEnglish(command.stdout.trimEnd()), answer.text.slice(0, 200));
    else
        check(config, answer.code !== 0 && command.stderr.includes(sentence(JSON.parse(answer.text).error)), command.stderr.trim());
}
finish();
