// The calculator's sentences in each language: one for each error that a page can meet, one for each field, and what is said of
// an out-of-memory message, with the same values in them as the library's own.

import { readFileSync, readdirSync } from 'node:fs';
import { check, finish, open, wholeFile } from './calc.mjs';

const root = new URL('../..', import.meta.url).pathname;
const read = (path) => readFileSync(root + path, 'utf8');
const values = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');
const code = (text) => (text.match(/`[^`]+`/g) ?? []).sort().join(' ');

// Errors of callers and of the command's words alone, and of a message, which a page explains.
const ELSEWHERE = /^(no_answer|played_wrongly|text_is_oom|no_such_|range_|solve_not_for|auto_unsaid$)/;
// Notes that the page shows: of servers, of an out-of-memory message, and of a pasted file where they change the answer.
const NOTES = /^(serve_(vllm|llama)|hint_.*|oom_of_.*|tower_(outside|frozen)|quantizer_unused|bits_unused|compiled_(as_eager|liger)|traced_mask|gpus_unsaid|labels_(unsaid|unused)|graphs_outside|model_differs|takes_less|file_not_opened|script_assumed|rank_unread|newer_framework|formula_.*)$/;
// Every other note, and why no reader of a page meets its sentence.
const UNSEEN = [
    [/^why_/, 'what a figure rests on: the page shows the range that follows from it'],
    [/^result_/, 'what a change does: the page says it stays the same, close or another one'],
    [/^(edit|cost)_/, 'the page shows the line of code and the share of time'],
    [/^width_refused$/, 'advice that is refused is left out'],
    [/^(solve_ends|cards_share)$/, 'the page solves by its own buttons'],
    [/^(key|keys|section)_unknown/, 'its key stands among what was ignored'],
    [/^(not_literal|default_read|rank_unused|word_unread|function_unread|loaded_twice|called_again|call_conditional|no_such_target|inside_a_block)$/, 'what was read and what was assumed stand beside each other'],
    [/^(server_command|model_by_name|other_gpus|weights_in_two_bytes|mxfp4_expanded|length_chosen|sizes_assumed|inner_assumed)$/, 'the setting itself stands among what was assumed, and in the form'],
    [/^(shakespeare_char|compile_left_out|log_)/, 'the setting itself stands among what was assumed'],
    [/^(nothing_set|idle_gpus|experts_written_out|evaluation_alone|eval_all_kept|heads_are_padded|adapters_unfused|unsloth_(plain|frozen|wide|compiled|eval)|bits_undivided|activations_stay|settings_apart|masks_unsaid|router_loss|every_idle|newer_version)/, 'about a run as the command line gives it'],
    [/^(attention_(falls_back|exact|in_half|groups)|bfloat16_emulated|paged_outside|offloaded|cache_(returned|kept))$/, 'the table of parts and the verdict have the figure'],
];
const errors = new Map(), unsaid = [], met = new Set();
for (const [, id, code, english] of read('calc/base/messages.def').matchAll(/MESSAGE\((\w+),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)/g)) {
    const reason = UNSEEN.find(([pattern]) => pattern.test(id));
    if (code === 'VRAM_OK' && reason) met.add(reason);
    if (code === 'VRAM_OK' && Boolean(reason) === NOTES.test(id)) unsaid.push(id);
    if ((code !== 'VRAM_OK' && !ELSEWHERE.test(id)) || NOTES.test(id)) errors.set(id, values(english));
}
check('every note is said on the page, or is listed with its reason', unsaid.length === 0, unsaid.join(' '));
check('no reason without a note', met.size === UNSEEN.length, UNSEEN.filter((r) => !met.has(r)).join(' '));
check('the errors are found', errors.size > 80, `${errors.size}`);

const calc = await open(wholeFile);
const wanted = new Map(errors);
const fields = calc.ask('fields').value;
for (const field of fields) wanted.set(`field.${field.key}`, '');
// What a preset is where that is more than its name: the library has it in English.
const presets = calc.ask('presets').value.filter((p) => /[:,']|\b(of|and)\b/.test(p.what)).map((p) => `preset.${p.name}`);
check('the presets are found', presets.length > 10, `${presets.length}`);
const languages = readdirSync(root + 'i18n/calculator').map((name) => name.replace('.json', ''));
// Each language that the site has.
const [, tags] = read('content/site.yaml').match(/^languages: \[(.*)\]$/m);
const none = tags.split(/,\s*/).filter((tag) => !languages.includes(tag));
check('every language of the site', none.length === 0, none.join(' '));
const english = JSON.parse(read('i18n/calculator/en.json'));
// Units that are written alike in every language, or that the first number needs.
const OTHERS = ['', 'GPUs', 'MiB'];
// What kinds of runs have, but for names, which stay as they are in every language.
const NAMES = /^(DDP|ZeRO-\d|FSDP\d|NO_WRAP|nanogpt|transformers|nanotron|litgpt|torchtune|torchtitan|float8)$/;
const kinds = [...read('calc/model/kinds.def').matchAll(/^KIND\(\w+, \d, "([^"]+)"/gm)].map((m) => m[1]);
check('what kinds of runs have is found', kinds.length > 30, `${kinds.length}`);
// The words that a script of the page brings in after the first number, by the names that the script gives them.
const LATER = {
    paste: ['kind.flat', 'kind.nanogpt', 'kind.hf', 'kind.log', 'kind.command', 'kind.smi', 'kind.call', 'kind.hub'],
    card: ['returned', 'kept'],
    more: ['same', 'close', 'different', ...kinds.filter((k) => !NAMES.test(k)).map((k) => `kind.${k.toLowerCase().replace(/\W/g, '_')}`), ...fields.flatMap((f) => [`group.${f.group}`, ...(OTHERS.includes(f.unit) ? [] : [`unit.${f.unit}`])])],
    step: [],
};
for (const [script, computed] of Object.entries(LATER)) {
    const named = [...read(`templates/calculator-${script}.js`).matchAll(/\b(?:said|told)\("([\w.]+)"\)/g)].map((m) => m[1]);
    check(`the words of calculator-${script}.js are found`, named.length > 3, `${named.length}`);
    for (const name of [...named, ...computed]) wanted.set(`${script}.${name}`, values(english[`${script}.${name}`] ?? ''));
}
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
    const same = Object.keys(own).filter((key) => own[key] === english[key] && !/^PYTORCH/.test(own[key]) && !/^more\.unit\./.test(key));
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
