// The estimator for a page or for Node: opens vram.wasm and speaks its interface (head of calc/wasm/wasm.c).
// A classic script, because modules are blocked on file://; it sets globalThis.vramOpen and nothing else.
//
//     const calc = await vramOpen(bytes);                     // the bytes of vram.wasm
//     calc.estimate('preset = gpt2\nbatch_size = 8').value    // schema vramcalc/1
//     calc.read(pastedText); calc.ask('advise').value
//
// Every answer is { code, text, value }: code 0 or a number of enum vram_code, text the JSON as the library wrote it,
// value what it says. An error's value is { error: ... }.
(function vram(root) {
    'use strict';

    // A config.json as flat lines: nested names joined by points, lists by commas, null left out.
    function flatten(object, prefix = '') {
        let lines = '';
        for (const [key, value] of Object.entries(object)) {
            const name = prefix + key;
            if (value === null) continue;
            if (Array.isArray(value)) {
                if (value.every((v) => v === null || typeof v !== 'object')) lines += line(name, value.join(','));
            } else if (typeof value === 'object') lines += flatten(value, name + '.');
            else lines += line(name, String(value));
        }
        return lines;
    }

    function line(name, value) {
        return `${name} = ${value.replace(/[\r\n]+/g, ' ')}\n`;
    }

    class Calculator {
        #e;
        #encode = new TextEncoder();
        #decode = new TextDecoder();
        #numbers;

        constructor(exports) {
            this.#e = exports;
            const at = exports.names();
            const memory = new Uint8Array(exports.memory.buffer);
            const words = this.#decode.decode(memory.subarray(at, memory.indexOf(0, at)));
            const [asks, kinds] = words.trim().split('\n').map(
                (group) => new Map(group.trim().split(' ').map((word, i) => [word, i])));
            this.#numbers = { asks, kinds };
        }

        #put(text) {
            const bytes = this.#encode.encode(text);
            const at = this.#e.input(bytes.length);
            if (!at) throw new Error('vram.wasm: no memory for the text');
            new Uint8Array(this.#e.memory.buffer, at, bytes.length).set(bytes);
            return bytes.length;
        }

        #number(group, word) {
            const n = this.#numbers[group].get(word);
            if (n === undefined) throw new Error(`vram.wasm: no such word: ${word}`);
            return n;
        }

        // has: the call made a text also where nothing went wrong.
        #answer(code, has = true) {
            const bytes = new Uint8Array(this.#e.memory.buffer, this.#e.text_at(), this.#e.text_bytes());
            const text = code !== 0 || has ? this.#decode.decode(bytes) : '';
            return { code, text, value: text ? JSON.parse(text) : undefined };
        }

        // Flat lines over the defaults, run, and the report.
        estimate(flat) {
            const len = this.#put(flat);
            return this.#answer(this.#e.estimate(len));
        }

        clear() {
            return this.#e.clear();
        }

        // Text of one kind (flat, nanogpt, hf, log) on top of the configuration as it stands.
        parse(kind, text) {
            const len = this.#put(text);
            return this.#answer(this.#e.parse(this.#number('kinds', kind), len), false);
        }

        // Whatever was pasted: a config.json, a Python file, a log, flat lines, or an out-of-memory message.
        // Answers { kind, code, text, value }.
        read(text) {
            let kind, object;
            if (/^\s*\{/.test(text)) {
                try {
                    object = JSON.parse(text);
                } catch (e) {
                    return { kind: 'hf', code: -7, text: e.message, value: { error: { message: e.message } } };
                }
                return { kind: 'hf', ...this.parse('hf', flatten(object)) };
            }
            if (/out of memory/i.test(text)) return { kind: 'oom', ...this.explain(text) };
            if (/^\s*(#.*\n|\s)*(number of parameters|num decayed|tokens per iteration|step \d+:|iter \d+:)/m.test(text)) kind = 'log';
            else kind = 'nanogpt';
            return { kind, ...this.parse(kind, text) };
        }

        // report, config, advise, gpus, presets
        ask(what) {
            return this.#answer(this.#e.answer(this.#number('asks', what)));
        }

        explain(message, withConfig = false) {
            const len = this.#put(message);
            return this.#answer(this.#e.explain(len, withConfig));
        }
    }

    root.vramOpen = async function (bytes) {
        const { instance } = await WebAssembly.instantiate(await bytes, {});
        return new Calculator(instance.exports);
    };
    root.vramOpen.flatten = flatten;
    // This file as text, for a worker made from a blob: a page opened from a folder cannot load one by address.
    root.vramOpen.source = `(${vram})(globalThis)`;
})(globalThis);
