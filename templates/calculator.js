// The calculator in the page: its state in the address, the form, the verdict. Numbers are the library's (WebAssembly),
// words are the page's. What comes after the first number (changing it, advice, settings, pasting, the step) is in scripts of
// its own, which find this one's functions in window.vramPage.
(function () {
  "use strict";
  const root = document.getElementById("calc");
  const words = JSON.parse(document.getElementById("calc-words").textContent);
  const digits = document.documentElement.dataset.digits;
  const lang = document.documentElement.lang + (digits ? "-u-nu-" + digits : "");
  const form = root.querySelector("form");
  const out = (name) => root.querySelector("[data-out=" + name + "]");
  const MiB = 1048576, GiB = 1024 * MiB;
  const start = { preset: "oom-gpt2", gpu: "RTX 4070" };
  const page = window.vramPage = { root, words, lang, form, out, after: [] };
  let state = {}, core = null, task = "";

  // ---- numbers in the reader's language --------------------------------------------------------
  const decimals = (n) => new Intl.NumberFormat(lang, { minimumFractionDigits: n, maximumFractionDigits: n });
  const whole = decimals(0), tenth = decimals(1), hundredth = decimals(2);
  const share = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 0 });
  const plain = new Intl.NumberFormat(lang);
  page.number = (n) => plain.format(n);
  // A number and its unit stay in their order in a text from right to left.
  const rtl = document.documentElement.dir === "rtl";
  const sized = (number, unit) => (rtl ? "\u2066" : "") + number + "\u00a0" + unit + (rtl ? "\u2069" : "");
  const mib = (bytes) => sized(whole.format(bytes / MiB), words.MiB);
  const gib = (bytes, exact) => sized((exact || Math.abs(bytes) < GiB ? hundredth : tenth).format(bytes / GiB), words.GiB);
  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
  }

  // ---- elements --------------------------------------------------------------------------------
  function el(name, attributes, children) {
    const e = document.createElement(name);
    Object.keys(attributes || {}).forEach((key) => e.setAttribute(key, attributes[key]));
    e.append.apply(e, children || []);
    return e;
  }
  const put = (name, children) => out(name).replaceChildren.apply(out(name), children);
  // Writes what has changed, and nothing else: what is written is laid out and painted again.
  const say = (e, text) => { if (e.textContent !== text) e.textContent = text; };
  const mark = (e, name, value) => { if (e.getAttribute(name) !== value) e.setAttribute(name, value); };
  function button(text, act, attributes) {
    const b = el("button", Object.assign({ type: "button" }, attributes), [text]);
    b.addEventListener("click", act);
    return b;
  }

  // ---- state: what the reader set, in the address ----------------------------------------------
  // A hash without "=" is a place on the page and no state.
  function read() {
    const hash = location.hash.slice(1);
    if (hash && hash.indexOf("=") < 0) return false;
    state = {};
    if (hash.startsWith("paste=")) {  // from the box of the start page
      page.handed = hash.slice(6);
      Object.assign(state, start);
      return true;
    }
    new URLSearchParams(hash).forEach((value, key) => {
      const field = page.fieldOf(key);
      state[field ? field.key : key] = value.replace(/\s+/g, " ");
    });
    if (!hash) Object.assign(state, start);
    return true;
  }
  const line = (key) => key + " = " + state[key] + "\n";
  function flat() {
    const first = ["preset", "gpu"].filter((key) => state[key]);
    return first.concat(Object.keys(state).filter((key) => state[key] !== "" && !first.includes(key))).map(line).join("");
  }
  // What the preset alone says: values that are no different from it need no place in the address.
  const bases = new Map();
  function base() {
    const name = state.preset || "";
    if (!bases.has(name)) {
      core.clear();
      if (name) core.parse("flat", "preset = " + name + "\n");
      bases.set(name, core.ask("config").value);
    }
    return bases.get(name);
  }
  function set(key, value) {
    const own = base()[key];
    if (value === null || value === undefined || (key !== "gpu" && String(value) === String(own))) delete state[key];
    else state[key] = String(value);
  }

  // ---- the form: controls are made from the library's table of fields ----------------------------
  const TASKS = {
    train: { set: { task: null, lora_rank: null, quantization: null }, keys: ["batch_size", "length", "dtype", "checkpointing", "optimizer"] },
    tune: { set: { task: null }, keys: ["lora_rank", "quantization", "batch_size", "length", "checkpointing"] },
    serve: { set: { task: "inference", lora_rank: null }, keys: ["length", "max_new_tokens", "quantization", "kv_dtype", "gpu_memory_utilization"] },
  };
  const fields = new Map(), aliases = new Map();
  page.fields = fields;
  page.fieldOf = (key) => fields.get(key) || fields.get(aliases.get(key));
  function taskOf(config) {
    return config.task === "inference" ? "serve" : Number(config.lora_rank) > 0 ? "tune" : "train";
  }
  // nanoGPT has one length; the others know more positions than a sequence of the run has.
  const lengthKey = (config) => (config.family === "gpt2" && !config.seq_len ? "block_size" : "seq_len");
  const shown = (key, config) => (key === "seq_len" && !config.seq_len ? config.block_size : config[key]);

  function choice(field, attributes) {
    const names = field.type === "bool" ? ["false", "true"] : field.values;
    const say = field.type === "bool" ? [words.no, words.yes] : names;
    return el("select", attributes, names.map((name, i) => el("option", { value: name }, [say[i]])));
  }
  page.control = function (key, prefix) {
    const field = fields.get(key), attributes = { name: prefix + key, "data-key": key };
    if (field.type === "enum" || field.type === "bool") return choice(field, attributes);
    if (field.type === "count") attributes.inputmode = "numeric";
    return el("input", Object.assign(attributes, { autocomplete: "off", spellcheck: "false" }), []);
  };
  function label(key) {
    const text = words.labels[key] || "";
    return el("label", {}, [el("span", {}, [text, " ", el("code", {}, [key.length > 15 ? key.replace(/_/g, "_\u200b") : key])]), page.control(key, "")]);
  }
  function fieldsOf(config) {
    const own = { length: lengthKey(config), gpu_memory_utilization: state.gpu ? "gpu_memory_utilization" : "batch_size" };   // a server's share is of a card
    const keys = TASKS[task].keys.map((key) => own[key] || key);
    const several = task === "serve" ? ["tensor_parallel"] : ["n_gpu"].concat(Number(config.n_gpu) > 1 ? ["parallel"] : []);
    return { fields: keys, several: several };
  }
  // Makes the controls of the task again where they are others than before.
  function arrange(config) {
    task = taskOf(config);
    form.elements["calc-task"].value = task;
    const lists = fieldsOf(config);
    Object.keys(lists).forEach((name) => {
      const keys = lists[name].join(" ");
      if (out(name).dataset.keys === keys) return;
      out(name).dataset.keys = keys;
      put(name, lists[name].map(label));
    });
  }
  // Shows the configuration that the library has made of the state, without disturbing what is being typed.
  function show(config) {
    root.querySelectorAll("[data-key]").forEach((control) => {
      const key = control.dataset.key;
      if (control === document.activeElement && control.tagName === "INPUT") return;
      const value = key === "preset" ? state.preset || "" : shown(key, config);
      control.value = control.dataset.value = value === null || value === undefined ? "" : String(value);
    });
  }

  // ---- what is shown -----------------------------------------------------------------------------
  // Parts of what the process takes: tensors alive at the peak by kind, what the allocator keeps beyond, the context.
  function parts(r) {
    const list = Object.keys(r.breakdown).map((key) => [key, r.breakdown[key]]);
    list.push(["cache", r.peak_reserved_bytes - r.peak_live_bytes], ["context", r.context_bytes]);
    return list.filter((part) => part[1] >= MiB);
  }
  const letter = (i) => String.fromCharCode(65 + i);
  const wide = (e, part) => { e.style.inlineSize = (100 * part).toFixed(3) + "%"; return e; };
  // The children of a box, made again only where they are of other kinds than before.
  function kept(box, kinds, make) {
    if (box.dataset.kinds !== kinds.join(" ")) {
      box.replaceChildren.apply(box, kinds.map(make));
      box.dataset.kinds = kinds.join(" ");
    }
    return Array.from(box.children);
  }
  const segment = (kind, i) => el("span", { class: "seg" }, [el("i", { class: kind }), el("b", {}, [letter(i)])]);
  function bar(list, whole, room) {
    const box = out("bar").firstElementChild || out("bar").appendChild(el("div", { class: "bar", "aria-hidden": "true" }));
    const top = Math.max(room, whole) * 1.02, kinds = list.map((part) => part[0]).concat(room ? ["limit"] : []);
    page.ghost(0);
    box.dataset.top = top;
    kept(box, kinds, (kind, i) => (kind === "limit" ? el("span", {}, [el("b")]) : segment(kind, i))).forEach((e, i) => {
      if (i < list.length) {
        wide(e, list[i][1] / top);
        mark(e, "title", words.parts[list[i][0]] + ": " + gib(list[i][1]));
        return;
      }
      mark(e, "class", room < 0.4 * top ? "limit early" : "limit");
      say(e.firstChild, words.card + " " + gib(room));
      e.style.insetInlineStart = (100 * room / top).toFixed(3) + "%";
    });
  }
  // What the bar would be after a change: a line over it, while the reader looks at the change.
  page.ghost = function (bytes) {
    const box = root.querySelector(".bar"), old = root.querySelector(".ghost");
    if (old) old.remove();
    if (box && bytes) box.append(wide(el("span", { class: "ghost" }), bytes / Number(box.dataset.top)));
  };
  function row(kind, i) {
    return el("tr", {}, [el("th", { scope: "row" }, [el("b", { class: "letter" }, [letter(i)]), el("span", { class: "swatch " + kind }), words.parts[kind] || kind]),
      el("td", { class: "right" }), el("td", { class: "right" })]);
  }
  function table(list, whole) {
    kept(out("parts"), list.map((part) => part[0]), row).forEach((e, i) => {
      say(e.children[1], mib(list[i][1]));
      say(e.children[2], share.format(list[i][1] / whole));
    });
  }
  // The card's total in nvidia-smi and what CUDA offers of it: less on Linux, by observation or by rule.
  function totals(gpu) {
    const text = gpu.cuda_basis === "observed" ? words.seen : gpu.cuda_basis === "rule" ? words.unseen : "";
    return fill(text, { gpu: gpu.name, total: gib(gpu.memory_bytes), cuda: gib(gpu.cuda_bytes) });
  }
  function standing(r) {
    if (!r.gpu) return "needs";
    const room = r.gpu.left_bytes, bounds = r.bounds.needed_bytes;
    if (r.needed_bytes > room) return bounds.low > room ? "not" : "hardly";
    return bounds.high <= room && !r.alloc_retries ? "fits" : "tight";
  }
  const signs = { fits: "\u2713", tight: "\u2248", hardly: "\u2248", not: "\u2717" };
  function badge(how, sign) {
    mark(root, "data-verdict", how);
    if (out("badge").dataset.how === how) return;
    out("badge").dataset.how = how;
    put("badge", how === "needs" ? [] : [el("span", { "aria-hidden": "true" }, [sign + " "]), words.badges[how]]);
  }
  function verdict(r, how) {
    const bounds = r.bounds.needed_bytes, room = r.gpu ? r.gpu.left_bytes : 0;
    const values = { process: gib(r.needed_bytes), card: gib(room), margin: gib(Math.abs(room - r.needed_bytes)) };
    badge(how, signs[how]);
    say(out("number"), gib(r.needed_bytes));
    say(out("range"), fill(words.range, { low: gib(bounds.low), high: gib(bounds.high) }));
    say(out("verdict"), fill((page.cached && page.cached(r, how, values)) || words[how], values));   // which comes later
    bar(parts(r), r.process_bytes, room);
  }
  function chip(key) {
    const remove = () => { page.change({ [key]: null }, "push"); out("chips").focus(); };
    return el("li", {}, [el("code"), button("\u00d7", remove, { "aria-label": fill(words.remove, { setting: key }) })]);
  }
  function chips() {
    const keys = Object.keys(state).filter((key) => key !== "preset" && key !== "gpu" && state[key] !== "");
    kept(out("chips"), keys, chip).forEach((e, i) => say(e.firstChild, keys[i] + " = " + state[keys[i]]));
    out("chips").hidden = !keys.length;
  }

  // ---- what is wrong -----------------------------------------------------------------------------
  // The library's errors are a name and arguments; their sentences are words of the page, which come after the first number.
  page.sentence = function (message) {
    const text = page.sentences && page.sentences[message.id];
    const values = Object.assign({ field: message.field }, message.args);
    return text ? fill(text, values) : message.text || (page.sentences ? message.id : "\u2026");
  };
  // Alone it begins with a capital letter, if not with the name of a setting, and ends with its script's full stop.
  const stop = { ja: "\u3002", zh: "\u3002", hi: "\u0964" }[lang.slice(0, 2)] || ".";
  page.told = function (message) {
    const text = page.sentence(message).replace(/^(\p{Ll})(\p{L}*)(?=[\s,\u2019'])/u, (all, first, rest) => (page.fieldOf(all) ? all : first.toLocaleUpperCase(lang) + rest));
    return /[.!?:\u2026\u3002\u0964\u061f\uff1f]$/.test(text) ? text : text + stop;
  };
  function settle() {
    root.querySelectorAll("[aria-invalid]").forEach((control) => {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-describedby");
    });
    put("remedies", []);
  }

  // What stands beside the verdict. While a value is typed it must not keep the number waiting: where it took long the last time,
  // it comes after the number is painted, piece by piece, and is left out when the next number is there first.
  const BUDGET = 8, FRAME = 16;
  let cost = 0, turns = 0, waiting = false;
  function pieces(r) {
    const first = () => {
      chips();
      arrange(r.config);
      show(r.config);
      if (!r.server) { say(out("totals"), r.gpu ? totals(r.gpu) : ""); table(parts(r), r.process_bytes); }
    };
    return [first].concat(page.after.map((after) => () => after(r)));
  }
  function beside(r, typed, began) {
    const list = pieces(r), turn = ++turns;
    let took = 0;
    waiting = true;
    function run(most) {
      const from = performance.now();
      let now = from;
      for (; list.length && now - from < most; now = performance.now()) list.shift()();
      took += now - from;
      if (!list.length) { cost = took; waiting = false; }
    }
    if (!typed || performance.now() - began + cost < FRAME) { run(Infinity); return; }
    const next = () => {
      if (turn !== turns) return;
      run(BUDGET);
      if (list.length) setTimeout(next);
    };
    painted(next);
  }
  // After the next picture of the page; one that is not shown paints none.
  function painted(then) {
    let done = false;
    const once = () => { if (!done) { done = true; then(); } };
    requestAnimationFrame(() => setTimeout(once));
    setTimeout(once, 300);
  }
  page.settled = () => !waiting;

  // A card that serves is answered by its own script: a server counts otherwise than a step of PyTorch.
  function update(typed) {
    const began = performance.now();
    const serves = state.task === "inference" && state.gpu && page.serves, answer = serves ? serves() : core.estimate(flat());
    page.took = performance.now() - began;
    settle();
    root.classList.toggle("wrong", answer.code !== 0);
    root.querySelectorAll(".figure, .picture, .answer").forEach((e) => { e.inert = answer.code !== 0; });
    if (answer.code !== 0) { turns++; waiting = false; chips(); if (page.settles) page.complain(answer.value.error); return; }
    const r = page.report = answer.value;
    root.classList.toggle("serves", Boolean(serves));
    if (serves) page.served(r);
    else verdict(r, standing(r));
    beside(r, typed, began);
  }

  // ---- beginning ---------------------------------------------------------------------------------
  const families = (p) => (/family=(\w+)/.exec(p.fields) || ["", ""])[1];
  function prepare() {
    core.ask("fields").value.forEach((field) => {
      fields.set(field.key, field);
      field.aliases.forEach((alias) => aliases.set(alias, field.key));
    });
    const presets = core.ask("presets").value.map((p) => ({ value: p.name, label: p.what, group: families(p) }));
    const cards = core.ask("gpus").value.map((g) => ({ value: g.name, label: gib(g.memory_bytes), group: g.architecture || "" }));
    page.cards = cards;
    page.presets = presets;
  }
  // ---- loading -----------------------------------------------------------------------------------
  page.load = function (name) {
    if (!root.dataset[name]) return Promise.resolve();
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = root.dataset[name];
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
  };
  // A module: over http as it is, from a folder (where nothing may be fetched) out of a script that holds it as base64.
  page.module = async function (name, variable) {
    if (location.protocol !== "file:") {
      const answer = await fetch(root.dataset[name]);
      if (answer.ok) return answer.arrayBuffer();
    }
    await page.load(name + "Script");
    return Uint8Array.from(atob(window[variable]), (c) => c.charCodeAt(0)).buffer;
  };
  page.state = (next) => (next ? state = next : state);
  page.isExample = () => state.preset === start.preset && !Object.keys(state).some((key) => page.fieldOf(key) && page.fieldOf(key).group === "model");
  page.complain = () => {};   // until the script that does is there
  Object.assign(page, { el, put, say, button, fill, gib, mib, share, whole, parts, bar, table, badge, update, painted, base, set, flat, read, arrange, show, lengthKey, letter, standing, signs, TASKS });

  // The whole library in place of the first number's, which leaves out families, fields and kinds of runs: until it is there, or
  // fails to come, nothing is called wrong. Resolves to its module, for a worker.
  async function complete() {
    const module = await WebAssembly.compile(await page.module("whole", "vramWholeWasm"));
    core = page.core = await window.vramOpen(module);
    bases.clear();
    prepare();
    return module;
  }

  async function begin() {
    document.documentElement.classList.add("calculates");   // :has(.calc) would be asked again for each element that changes
    const style = (name) => document.head.append(el("link", { rel: "stylesheet", href: root.dataset[name] }));
    style("style");
    const module = page.module("wasm", "vramWasm"), script = page.load("core");
    await script;
    page.bytes = await module;
    core = page.core = await window.vramOpen(page.bytes);
    prepare();
    if (!read()) Object.assign(state, start);
    if (state.task === "inference") await page.load("card");
    update();
    root.classList.add("ready");
    style("styleMore");
    page.library = complete();
    await page.load("form");
    await page.load("words");
    page.sentences = window.vramSentences;
    if (!page.serves) await page.load("card");
    await page.load("more");
    await page.load("step");
    await page.load("paste");
    await page.library.catch(() => {});   // the first number's library goes on
    page.settles = true;
    update();
    root.classList.add("whole");
    if (page.handed) page.paste(page.handed);
  }
  begin();
})();
