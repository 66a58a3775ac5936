// The estimator for a page or for Node: opens vram.wasm, or vram-whole.wasm, which has all that the command has, and speaks its
// interface (heads of calc/wasm/wasm.c and whole.c).
// A classic script, because modules are blocked on file://; it sets globalThis.vramOpen and nothing else.
//
//     const calc = await vramOpen(bytes);                     // the bytes of vram.wasm, or a module
//     calc.estimate('preset = gpt2\nbatch_size = 8').value    // schema vramcalc/1
//     calc.read(pastedText); calc.ask('report').value
//
// Every answer is { code, text, value }: code 0 or a number of enum vram_code, text the JSON as the library wrote it,
// value what it says. An error's value is { error: ... }.
(function vram(root) {
    'use strict';

    // The JSON Schema of the fields as rows: { key, aliases, group, type, unit, default, min, max, values }.
    const TYPES = { boolean: 'bool', integer: 'count', number: 'fraction' };
    const fieldType = (p) => (p.enum ? 'enum' : p.examples ? 'set' : p.items ? 'list' : p.pattern ? 'version' : TYPES[p.type]);
    function fieldRows(schema) {
        return Object.entries(schema.properties).filter(([, p]) => p.group).map(([key, p]) => ({
            key, aliases: p.aliases, group: p.group, type: fieldType(p), unit: p.unit, default: p.default, min: p.minimum, max: p.maximum,
            values: p.enum || p.examples || null }));
    }

    class Calculator {
        #e;
        #encode = new TextEncoder();
        #decode = new TextDecoder();
        #numbers;

        constructor(exports) {
            this.#e = exports;
            const [asks] = this.#words(exports.names()), [answers, formats, kinds, moments] = exports.write_names ? this.#words(exports.write_names()) : [];
            this.#numbers = { asks, answers, formats, kinds, moments };
        }

        // Groups of words at an address, one a line, as maps from a word to its place.
        #words(at) {
            const memory = new Uint8Array(this.#e.memory.buffer);
            const words = this.#decode.decode(memory.subarray(at, memory.indexOf(0, at)));
            return words.trim().split('\n').map((group) => new Map(group.trim().split(' ').map((word, i) => [word, i])));
        }

        #put(data) {
            const bytes = data.BYTES_PER_ELEMENT ? data : this.#encode.encode(data);
            const at = this.#e.input(bytes.length);
            if (!at) throw new Error('vram.wasm: no memory for the text');
            new Uint8Array(this.#e.memory.buffer, at, bytes.length).set(bytes);
            return bytes.length;
        }

        // A file: its name and a NUL before its text; the name alone is the first of the two numbers.
        #file(text, name) {
            const named = name ? this.#encode.encode(name).length + 1 : 0;
            return [named, this.#put(named ? name + '\0' + text : text)];
        }

        #number(group, word) {
            const n = this.#numbers[group].get(word);
            if (n === undefined) throw new Error('vram.wasm: no such word: ' + word);
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
            return this.#answer(this.#e.estimate(this.#put(flat)));
        }

        clear() {
            return this.#e.clear();
        }

        // Text of one kind on top of the configuration as it is: flat, and with vram-whole.wasm any of VRAM_KINDS (auto: whichever it is).
        parse(kind, text, name) {
            if (kind === 'flat') return this.#answer(this.#e.flat(this.#put(text)), false);
            const file = this.#file(text, name);
            return this.#answer(this.#e.parse(this.#number('kinds', kind), ...file), false);
        }

        // Of vram-whole.wasm, as all below but ask(). The kind of a text: flat, nanogpt, log, hf, axolotl, ...; auto where it is none that is read.
        recognize(text, name) {
            const number = this.#e.recognize(...this.#file(text, name));
            return [...this.#numbers.kinds].find(([, n]) => n === number)?.[0] ?? 'auto';
        }

        // Whatever was pasted, on top of the configuration as it is: any file that the command line reads, or an out-of-memory
        // message. Returns { kind, code, text, value }; warnings are notes of the next report.
        read(text, name) {
            const kind = this.recognize(text, name), read = this.parse('auto', text, name);
            return read.code && read.value.error.id === 'text_is_oom' ? { kind: 'oom', ...this.explain(text) } : { kind, ...read };
        }

        // report, config, gpus, presets, timeline, serving, fields; of vram-whole.wasm advise, cards, serve and compare, too
        ask(what) {
            const add = this.#e[what];
            const answer = this.#answer(add ? add() : this.#e.answer(this.#number('asks', what)));
            if (what === 'fields') answer.value = fieldRows(answer.value);
            return answer;
        }

        // vram-whole.wasm has these, too.
        solve(field) {
            return this.#answer(this.#e.solve(this.#put(field)));
        }

        // Also of vram-whole.wasm: an answer in any format, as { code, bytes } (a trace for memory_viz is no text).
        write(answer, format) {
            const code = this.#e.write(this.#number('answers', answer), this.#number('formats', format));
            if (code !== 0) return this.#answer(code);
            return { code, bytes: new Uint8Array(this.#e.memory.buffer, this.#e.text_at(), this.#e.text_bytes()).slice() };
        }

        // The allocator's segments: at "peak", "growth", "end", or after the event of a number.
        segments(moment) {
            const event = typeof moment === 'number';
            return this.#answer(this.#e.segments(this.#number('moments', event ? 'event' : moment), event ? moment : 0));
        }

        explain(message, withConfig) {
            return this.#answer(this.#e.explain(this.#put(message), withConfig));
        }

        // What torch.cuda.memory._dump_snapshot wrote, as bytes, or the same as JSON.
        snapshot(data, withConfig) {
            return this.#answer(this.#e.snapshot(this.#put(data), withConfig));
        }
    }

    root.vramOpen = async function (bytes) {
        const made = await WebAssembly.instantiate(await bytes, {});   // of bytes with the module that was made of them
        return new Calculator((made.instance || made).exports);
    };
    // This file as text, for a worker made from a blob: a page opened from a folder cannot load one by address.
    root.vramOpen.source = '(' + vram + ')(globalThis)';
})(globalThis);
