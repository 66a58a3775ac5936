// The calculator's sentences in each language: one for each error that a page can meet, one for each field, and what is said of
// an out-of-memory message, with the same values in them as the library's own.

import { readFileSync, readdirSync } from 'node:fs';
import { check, finish, open } from './calc.mjs';

const root = new URL('../..', import.meta.url).pathname;
const read = (path) => readFileSync(root + path, 'utf8');
const values = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');
const code = (text) => (text.match(/`[^`]+`/g) ?? []).sort().join(' ');

// Errors of callers and of commands that a page has not.
const ELSEWHERE = /^(no_answer|no_such_|range_|solve_not_for|snapshot_|pickle_)/;
// Notes that the page shows, and what it says of an out-of-memory message.
const NOTES = /^(serve_(vllm|llama)$|hint_|oom_of_)/;
const errors = new Map();
for (const [, id, code, english] of read('calc/base/messages.def').matchAll(/MESSAGE\((\w+),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)/g))
    if ((code !== 'VRAM_OK' && !ELSEWHERE.test(id)) || NOTES.test(id)) errors.set(id, values(english));
check('the errors are found', errors.size > 80, `${errors.size}`);

const calc = await open();
const wanted = new Map(errors);
for (const field of calc.ask('fields').value) wanted.set(`field.${field.key}`, '');
// What a preset is where that is more than its name: the library has it in English.
const presets = calc.ask('presets').value.filter((p) => /[:,']|\b(of|and)\b/.test(p.what)).map((p) => `preset.${p.name}`);
check('the presets are found', presets.length > 10, `${presets.length}`);
const languages = readdirSync(root + 'i18n/calculator').map((name) => name.replace('.json', ''));
// Each language that the site has.
const [, tags] = read('content/site.yaml').match(/^languages: \[(.*)\]$/m);
const none = tags.split(/,\s*/).filter((tag) => !languages.includes(tag));
check('every language of the site', none.length === 0, none.join(' '));
const english = JSON.parse(read('i18n/calculator/en.json'));
for (const tag of languages) {
    const own = JSON.parse(read(`i18n/calculator/${tag}.json`));
    const all = new Set([...wanted.keys(), ...(tag === 'en' ? [] : presets)]);
    const missing = [...all].filter((key) => !own[key]), more = Object.keys(own).filter((key) => !all.has(key));
    check(`${tag}: a sentence for each`, missing.length === 0, missing.join(' '));
    check(`${tag}: none without use`, more.length === 0, more.join(' '));
    const other = [...wanted].filter(([key, list]) => own[key] && values(own[key]) !== list).map(([key]) => key);
    check(`${tag}: the same values in them`, other.length === 0, other.join(' '));
    const coded = Object.keys(own).filter((key) => /^(hint_|oom_of_)/.test(key) && code(own[key]) !== code(english[key]));
    check(`${tag}: the same code in what is said of a message`, coded.length === 0, coded.join(' '));
    const same = Object.keys(own).filter((key) => own[key] === english[key] && !/^PYTORCH/.test(own[key]));
    check(`${tag}: translated`, tag === 'en' || same.length <= 2, same.join(' '));
}

// French: a no-break space before a colon and inside of quotation marks, a narrow one before ; ! ? and %.
const typed = (text) => text.replace(/`[^`]*`/g, '').match(/.{0,20}(?:[ \u202f][:\u00bb](?!\w)|[ \u00a0][;!?]|\u00ab[ \u202f]|(?<=[\d}])[ \u00a0]%).{0,10}/g) ?? [];
const texts = (value) => (typeof value === 'string' ? [value] : Object.values(value).flatMap(texts));
for (const path of ['i18n/fr.json', 'i18n/calculator/fr.json']) {
    const bad = texts(JSON.parse(read(path))).flatMap(typed);
    check(`${path}: spaces as French has them`, bad.length === 0, bad.slice(0, 5).join(' | '));
}
check('and the check sees a plain one', typed('oui : non').length === 1 && typed('oui\u00a0: non ; si').length === 1 && typed('oui\u00a0: `a : b`').length === 0);
finish();
