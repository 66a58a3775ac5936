// Real configuration files: what the page reads of each of tests/calc/configs.tsv, through its own script, beside what the command
// reads: the same configuration, or the same place of the first error. CONFIGS names the folder that has them at REPOSITORY/PATH;
// without it the files of tests/cli/calc_read are read alone. These are read with pieces of others, too, cut, doubled and with bytes
// that no one wrote (seeded, the same in each run): no exception, and what the command says.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { check, finish, open, root, build, wholeFile } from './calc.mjs';

const core = await open(wholeFile);
// The function runs in the page's worker by its source; it ends where a line closes what its own line began.
const script = readFileSync(join(root, 'templates/calculator-more.js'), 'utf8');
const begin = script.indexOf('  function reading(');
const reading = runInThisContext('(' + script.slice(begin, script.indexOf('\n  }\n', begin) + 4) + ')');

const folder = join(root, 'tests/cli/calc_read');
const load = (path) => ({ name: path, text: readFileSync(path, 'utf8') });
// Words of a case: files of the folder and settings.
const parts = (words) => words.filter((w) => w !== '-').reduce((all, w) => {
    if (existsSync(join(folder, w))) all.files.push(join(folder, w));
    else all.settings.push(w);
    return all;
}, { files: [], settings: [] });

function command(settings, files) {
    const run = spawnSync(join(build, 'vramcalc'), ['estimate', ...settings, ...files, '--format', 'json'], { cwd: folder, maxBuffer: 1 << 26 });
    const error = /:(\d+):(\d+): error: (.*)/.exec(run.stderr.toString());
    return { config: run.status === 0 ? JSON.parse(run.stdout).config : null, error: error ? `${error[1]}:${error[2]}` : '', text: run.stderr.toString() };
}
// As the page does it: flat lines of the run as it stands, and the files over it.
function page(settings, files) {
    const flat = settings.map((w) => w.replace('=', ' = ') + '\n').join('');
    core.clear();
    core.parse('flat', flat);
    const read = reading(core, flat, [files.map(load)], settings.length > 0).value;
    const onto = read.onto && !settings.length;
    if (read.message) return { config: null, error: 'a message' };
    if (read.error) return { config: null, error: read.error.line ? `${read.error.line}:${read.error.col}` : read.error.id, onto };
    const report = core.ask('report').value, place = report.error && `${report.error.line}:${report.error.col}`;
    return { config: report.config ?? null, error: place ?? '', onto };
}

// Files that a text names and that lie near it are read by the command alone.
const alone = (text) => !/^note: .* is read, too$/m.test(text);
// A command's configuration says an enum by its name, as the page's does.
const differences = (a, b) => Object.keys(a).filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key])).map((key) => `${key}: ${a[key]}, on the page ${b[key]}`);

function compare(name, given, path) {
    const { files, settings } = parts(given), all = [...files, path], got = page(settings, all);
    // Without a model in it a file is read over the run as it stands: here gpt2.
    const wanted = command(got.onto ? ['preset=gpt2'] : settings, all);
    if (!alone(wanted.text)) { console.log(`skip ${name}: it names a file that lies beside it`); return; }
    const why = wanted.config && got.config ? differences(wanted.config, got.config).join('; ')
        : wanted.config || got.config ? `the command ${wanted.config ? 'reads it' : 'refuses it: ' + wanted.text.slice(0, 200)}, the page ${got.config ? 'reads it' : 'refuses it: ' + got.error}`
        : wanted.error === got.error ? '' : `an error at ${wanted.error}, on the page at ${got.error}`;
    check(name, !why, why);
}

for (const name of readdirSync(folder).filter((n) => /\.(json|ya?ml|toml|py|sh)$/.test(n)))
    compare(name, [], join(folder, name));
for (const line of (process.env.CONFIGS ? readFileSync(join(root, 'tests/calc/configs.tsv'), 'utf8') : '').split('\n').filter((l) => l && l[0] !== '#')) {
    const [format, repository, , path, given] = line.split('\t'), place = join(process.env.CONFIGS, repository, path);
    if (existsSync(place)) compare(`${format} ${repository} ${path}`, given.split(' '), place);
}

// ---- damaged files ----
let seed = 20;
const random = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 4294967296 * n); };
const STRAYS = ['{', '}', '[', ']', '"', "'", ':', ',', '=', '#', '\\', '\n', '\t', '  ', '-', '&a', '*a', '!!x', '|', '1e999', '-0', '\u0001', '\u00e9', '\ud7ff', '\u{1f600}'];
const sources = readdirSync(folder).filter((n) => /\.(json|ya?ml|toml|py|sh)$/.test(n)).map((n) => load(join(folder, n)));
const span = (text, most) => { const from = random(text.length + 1); return [from, Math.min(text.length, from + random(most))]; };
const DAMAGES = [
    (text) => { const [a, b] = span(text, 40); return text.slice(0, a) + text.slice(b); },
    (text) => { const [a, b] = span(text, 200); return text.slice(0, b) + text.slice(a, b) + text.slice(b); },
    (text) => { const [a] = span(text, 1); return text.slice(0, a) + STRAYS[random(STRAYS.length)] + text.slice(a); },
    (text) => { const [a, b] = span(text, 3); return text.slice(0, a) + STRAYS[random(STRAYS.length)] + text.slice(b); },
    (text) => { const other = sources[random(sources.length)].text, [a, b] = span(other, 300), [at] = span(text, 1); return text.slice(0, at) + other.slice(a, b) + text.slice(at); },
    (text) => text.slice(0, span(text, 1)[0]),
];
const damaged = (text) => { for (let k = 1 + random(3); k > 0; k--) text = DAMAGES[random(DAMAGES.length)](text); return text; };

function survives(name, text) {
    core.clear();
    const read = reading(core, '', [[{ name, text }]], false).value;
    if (!read.message && !read.error) core.ask('report');
}
const EACH = Number(process.env.DAMAGED ?? 250);
for (const { name, text } of sources) {
    let why = '';
    for (let i = 0; i < EACH && !why; i++) {
        const bad = damaged(text);
        try { survives(name, bad); } catch (error) { why = `${error} for ${JSON.stringify(bad)}`; }
    }
    check(`${EACH} times damaged: ${name.slice(folder.length + 1)}`, !why, why);
}
// Some of them as the command reads them.
const place = mkdtempSync(join(tmpdir(), 'damaged-'));
for (const { name, text } of sources) {
    for (let i = 0; i < EACH / 50; i++) {
        const path = join(place, `${i}-${name.slice(folder.length + 1)}`);
        writeFileSync(path, damaged(text));
        compare(`damaged as the command: ${path.slice(place.length + 1)}`, [], path);
    }
}
rmSync(place, { recursive: true });
finish();
