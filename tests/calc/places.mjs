// Every question in every place, run by places.sh: the command's JSON is what Lua, Python and the page's module must say.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { build, check, finish, flat, root, withoutEnglish } from '../wasm/calc.mjs';

const MESSAGE = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of 23.64 GiB of which 2.00 GiB is free.';
const TUNED = 'preset=llama-3.2-1b checkpointing=block lora_rank=8 gpu=RTX 4090';
// A question: the command's verb, what it is asked with beside the configuration, the configuration.
const QUESTIONS = [
    ['estimate', '', 'preset=gpt2 batch_size=8 gpu=RTX 4070'], ['estimate', '', TUNED], ['estimate', '', 'preset=qwen2.5-7b task=inference kv_dtype=float8 seq_len=4096'],
    ['estimate', '', 'preset=shakespeare-char mode=reference'], ['estimate', '', 'preset=llama-3.1-8b parallel=fsdp2 n_gpu=8 checkpointing=block'],
    ['fit', '', 'preset=oom-gpt2'], ['fit', '', `${TUNED} other_memory=2GiB`], ['max_batch', '', TUNED], ['max_batch', '', 'preset=llama-2-70b gpu=T4'],
    ...['batch_size', 'seq_len', 'lora_rank', 'n_layer'].map((field) => ['solve', field, TUNED]), ['solve', 'n_gpu', 'preset=llama-3.1-8b parallel=fsdp2 checkpointing=block gpu=A100 80GB'],
    ['solve', 'max_new_tokens', 'preset=llama-3.1-8b task=inference seq_len=512 gpu=RTX 4090'], ['solve', 'seq_len', 'preset=llama-2-70b gpu=T4'],
    ['cards', '', `${TUNED} dtype=float16`],  // the small module has no attention of bfloat16 on old cards
    ['advise', '', 'preset=oom-gpt2'], ['advise', '', 'preset=llama-3.1-8b gpu=RTX 4090'],
    ...['', 'fp8', 'awq', 'q4_k_m', 'q8_0'].map((format) => ['serve', '', `preset=llama-3.1-8b seq_len=4096 gpu=RTX 4090${format && ` quantization=${format}`}`]),
    ['serve', '', 'preset=llama-3.1-8b seq_len=4096 kv_dtype=float8 gpu=RTX 4090'], ['serve', '', 'preset=llama-3.1-8b quantization=q4_k_m kv_dtype=q8_0 seq_len=8192 gpu=RTX 3060'],
    ['serve', '', 'preset=llama-3.1-70b gpu=T4'], ['explain-oom', MESSAGE, 'preset=gpt2 batch_size=32'],
    ['compare', '', 'preset=gpt2 batch_size=16'], ['segments', 'peak', 'preset=nanogpt-30m'], ['segments', 'growth', 'preset=nanogpt-30m'], ['segments', '100', 'preset=nanogpt-30m'],
    // what is refused
    ['estimate', '', 'preset=gpt3'], ['estimate', '', 'preset=gpt2 batchsize=2'], ['estimate', '', 'preset=gpt2 batch_size=0'], ['estimate', '', 'preset=gpt2 dtype=int3'],
    ['estimate', '', 'preset=gpt2 n_head=7'], ['estimate', '', 'preset=gpt2 gpu=RTX 9999'], ['solve', 'dtype', TUNED], ['solve', 'batch_sise', TUNED], ['solve', 'seq_len', 'preset=gpt2'],
    ['fit', '', 'preset=gpt2'], ['max_batch', '', 'preset=gpt2'], ['serve', '', 'preset=gpt2'], ['explain-oom', 'nothing of the kind', 'preset=gpt2'], ['segments', '99999999', 'preset=gpt2'],
];
// What the page does not ask: it has these of the report, or leaves them to the command.
const NOT_IN_THE_PAGE = /^(fit|max_batch)$/;

// ---- the places --------------------------------------------------------------------------------------------

const wordsOf = (config) => config.split(/ (?=\w+=)/);
const lines = QUESTIONS.map(([verb, argument, config]) => [verb, argument, ...wordsOf(config)].join('\t') + '\n').join('');
const run = (program, args, env) => spawnSync(program, args, { input: lines, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...env } });
const listed = (name, done) => {
    const answers = done.stdout.trim().split('\n');
    check(`${name} answers`, answers.length === QUESTIONS.length, `${answers.length} of ${QUESTIONS.length}: ${done.stderr.slice(-400)}`);
    return answers.map((line) => { try { return JSON.parse(line); } catch { return null; } });
};
function command([verb, argument, config]) {
    const beside = { solve: [argument], 'explain-oom': ['-'], segments: [`--at=${argument}`] }[verb] ?? [];
    const done = spawnSync(join(build, 'vramcalc'), [verb.replace('_', '-'), ...beside, '-f', 'json', ...wordsOf(config)], { input: argument, encoding: 'utf8', maxBuffer: 1 << 28 });
    return done.stdout ? { text: done.stdout, value: JSON.parse(done.stdout) } : { refused: done.stderr };
}
runInThisContext(readFileSync(join(root, 'calc/wasm/vram.js'), 'utf8'));
const page = await globalThis.vramOpen(readFileSync(join(build, 'vram-whole.wasm')));
function module([verb, argument, config]) {
    page.clear();
    const read = page.parse('flat', flat(wordsOf(config)));
    if (read.code) return read;
    const asks = { estimate: () => page.ask('report'), solve: () => page.solve(argument), 'explain-oom': () => page.explain(argument, true), segments: () => page.segments(Number(argument) || argument) };
    return (asks[verb] ?? (() => page.ask(verb)))();
}

// ---- what must be alike ------------------------------------------------------------------------------------

// What a door says to do in words of its own, in the command's.
const inCommandWords = (text) => text?.replace(/`vram\.(\w+)(\(\))?`/g, '`vramcalc $1`').replace(/gpu ?= ?"NAME"/, '--gpu NAME');
const sameWords = (said, wanted) => said === wanted || (typeof said === 'string' && inCommandWords(said) === wanted);

// Where a value of Lua's is not the command's; '' where all of it is. Nothing there is null here, an empty list an empty object.
function differs(said, wanted, path = '') {
    if (typeof said !== 'object' || said === null) return sameWords(said, wanted) || (said ?? null) === (wanted ?? null) ? '' : `${path}: ${JSON.stringify(said)}, the command ${JSON.stringify(wanted)}`;
    if (typeof wanted !== 'object' || wanted === null) return `${path}: the command ${JSON.stringify(wanted)}`;
    const keys = new Set([...Object.keys(said), ...Object.keys(wanted)]);
    for (const key of keys) {
        const wrong = differs(said[key], wanted[key], `${path}.${key}`);
        if (wrong) return wrong;
    }
    return '';
}
// Python's answers have the members of the structs, whose names are the JSON's in these cases; figures are objects with their bytes.
function differsInPython(said, wanted, path = '') {
    for (const [key, value] of Object.entries(wanted)) {
        const own = said[key] ?? said[key.replace(/_bytes$/, '')]?.bytes;
        if (own === undefined || own === null || typeof value === 'object') continue;
        if (typeof value === 'number' || typeof value === 'boolean' || typeof own === 'string')
            if (own !== value) return `${path}.${key}: ${own}, the command ${value}`;
        counted++;
    }
    for (const key of ['cards', 'changes', 'tensors', 'shapes', 'formulas', 'phases', 'segments']) {
        if (!Array.isArray(wanted[key]) || !Array.isArray(said[key])) continue;
        if (wanted[key].length !== said[key].length) return `${path}.${key}: ${said[key].length}, the command ${wanted[key].length}`;
        for (let i = 0; i < wanted[key].length; i++) {
            const wrong = differsInPython(said[key][i], wanted[key][i], `${path}.${key}[${i}]`);
            if (wrong) return wrong;
        }
    }
    return '';
}
let counted = 0;

const lua = listed('Lua', run(join(build, 'tests/calc/lua'), [join(root, 'tests/calc/places.lua')]));
const hasPython = spawnSync('python3', ['-c', 'import cffi']).status === 0;
const python = hasPython ? listed('Python', run('python3', [join(root, 'tests/calc/places.py')], { PYTHONPATH: join(build, 'python'), PYTHONDONTWRITEBYTECODE: '1' })) : [];
if (!hasPython) console.log('skip Python: cffi is not here');

QUESTIONS.forEach((question, i) => {
    const [verb, argument, config] = question, wanted = command(question), name = `${verb} ${argument.slice(0, 20)} ${config}`;
    const inPage = NOT_IN_THE_PAGE.test(verb) ? null : module(question);
    if (wanted.refused) {
        check(`${name}: refused by Lua in the same words`, lua[i]?.refused && wanted.refused.includes(inCommandWords(lua[i].refused).replace(/^.*?vram\.\w+: (\w+: )?| \(text:\d+:\d+\)$/g, '')), `${lua[i]?.refused} -- ${wanted.refused}`);
        if (hasPython) check(`${name}: refused by Python in the same words`, python[i]?.refused && wanted.refused.includes(inCommandWords(python[i].refused)), `${JSON.stringify(python[i]).slice(0, 200)} -- ${wanted.refused}`);
        if (inPage && hasPython) check(`${name}: refused by the page for the same reason`, inPage.code !== 0 && inPage.value.error.id === python[i]?.id, inPage.text.slice(0, 200));
        return;
    }
    const { schema, ...value } = wanted.value;
    if (verb === 'max_batch') check(`${name}: Lua`, value.max_batch_size ? lua[i] === value.max_batch_size : /not even/.test(lua[i]?.refused), `${JSON.stringify(lua[i])}`);
    else check(`${name}: Lua`, lua[i] && !differs({ ...lua[i], schema }, wanted.value), differs({ ...lua[i], schema }, wanted.value));
    if (hasPython) check(`${name}: Python`, python[i] && !python[i].refused && !differsInPython(python[i], value), python[i] ? python[i].refused ?? differsInPython(python[i], value) : 'nothing');
    if (inPage) check(`${name}: the page`, inPage.code === 0 && inPage.text.trimEnd() === withoutEnglish(wanted.text.trimEnd()), inPage.text.slice(0, 300));
});
if (hasPython) check('members of Python are compared', counted > 300, `${counted}`);
finish();
