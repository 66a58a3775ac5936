// The calculator in the page: its state in the address, the form, the verdict. Numbers are the library's (WebAssembly),
// words are the page's. What comes after the first number (advice, settings, pasting, the step) is in scripts of its own,
// which find this one's functions in window.vramPage.
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
  const page = window.vramPage = { root, words, lang, form, out, after: [], moved: [] };
  let state = {}, core = null, task = "", edited = "";

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
  const gib = (bytes) => sized((Math.abs(bytes) < GiB ? hundredth : tenth).format(bytes / GiB), words.GiB);
  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
  }

  // ---- numbers as people write them ------------------------------------------------------------
  const isDigit = (code) => /\p{Nd}/u.test(String.fromCodePoint(code));
  // Unicode has the digits of a script in a row, from zero on.
  function plainDigits(text) {
    return text.replace(/\p{Nd}/gu, (c) => {
      let n = 0;
      while (isDigit(c.codePointAt(0) - n - 1)) n++;
      return String(n % 10);
    });
  }
  // "1,024", "1.024", "1 024", "4k" and "2048.0" are whole numbers; of tokens in a sequence, k is 1,024 of them.
  function readCount(text, field) {
    const kilo = field.unit === "tokens" && field.key !== "vocab_size" ? 1024 : 1000;
    const short = /^(\d+(?:[.,]\d+)?)([km])$/i.exec(text);
    if (short) {
      const n = parseFloat(short[1].replace(",", ".")) * (/k/i.test(short[2]) ? kilo : kilo * kilo);
      return Number.isInteger(n) ? String(n) : text;
    }
    if (/^\d{1,3}(?:([.,])\d{2,3})?(?:\1\d{2,3})*[.,]\d{3}$/.test(text)) return text.replace(/[.,]/g, "");
    return text.replace(/^(\d+)[.,]0+$/, "$1");
  }
  function readNumber(text, field) {
    const plain = plainDigits(text).trim();
    if (!field || /enum|set|bool|version/.test(field.type)) return plain;
    const close = plain.replace(/\u066b/g, ".").replace(/(?<=\d)[\s_'\u2019\u066c](?=\d)/g, "");
    return field.type === "fraction" ? close.replace(/^(\d*),(\d+)$/, "$1.$2") : readCount(close, field);
  }

  // ---- elements --------------------------------------------------------------------------------
  function el(name, attributes, children) {
    const e = document.createElement(name);
    Object.keys(attributes || {}).forEach((key) => e.setAttribute(key, attributes[key]));
    e.append.apply(e, children || []);
    return e;
  }
  const put = (name, children) => out(name).replaceChildren.apply(out(name), children);
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
      page.handed = decodeURIComponent(hash.slice(6));
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
  // What is typed waits for a pause: browsers count changes of the address.
  let later = 0;
  function address(how) {
    const hash = "#" + new URLSearchParams(state);
    clearTimeout(later);
    if (hash !== location.hash) history[how](null, "", hash);
  }
  function write(push) {
    clearTimeout(later);
    if (push) address("pushState");
    else later = setTimeout(address, 200, "replaceState");
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
  // Several GPUs want a scheme that divides among them, one GPU wants none.
  function divide(count) {
    if (!(Number(count) > 1)) delete state.parallel;
    else if (!state.parallel && base().parallel === "none") set("parallel", "fsdp2");
  }
  // Changes of the reader: kept is "push" for one that Back undoes, "type" while a value is typed.
  function change(changes, kept) {
    const key = kept === "type" ? Object.keys(changes)[0] : "";
    Object.keys(changes).forEach((name) => set(name, changes[name]));
    write(!key || key !== edited);
    edited = key;
    update();
  }
  // Another model keeps how it is run, and drops what was said of the last one's shape.
  function withPreset(name) {
    const next = name ? { preset: name } : {};
    Object.keys(state).forEach((key) => {
      const field = fields.get(key);
      if (key !== "preset" && !(field && field.group === "model")) next[key] = state[key];
    });
    return next;
  }
  function replace(next) {
    state = next;
    edited = "";
    Object.keys(state).filter((key) => fields.has(key)).forEach((key) => set(key, state[key]));
    write(true);
    update();
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
    const keys = TASKS[task].keys.map((key) => (key === "length" ? lengthKey(config) : key));
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
  function bar(list, whole, room) {
    const top = Math.max(room, whole) * 1.02;
    const segments = list.map((part, i) => wide(el("span", { class: "seg", title: words.parts[part[0]] + ": " + gib(part[1]) },
      [el("i", { class: part[0] }), el("b", {}, [letter(i)])]), part[1] / top));
    const box = el("div", { class: "bar", "aria-hidden": "true" }, segments);
    box.dataset.top = top;
    if (room) {
      const limit = el("span", { class: room < 0.4 * top ? "limit early" : "limit" }, [el("b", {}, [words.card + " " + gib(room)])]);
      limit.style.insetInlineStart = (100 * room / top).toFixed(3) + "%";
      box.append(limit);
    }
    return box;
  }
  // What the bar would be after a change: a line over it, while the reader looks at the change.
  page.ghost = function (bytes) {
    const box = root.querySelector(".bar"), old = root.querySelector(".ghost");
    if (old) old.remove();
    if (box && bytes) box.append(wide(el("span", { class: "ghost" }), bytes / Number(box.dataset.top)));
  };
  function table(list, whole) {
    return list.map((part, i) => el("tr", {}, [
      el("th", { scope: "row" }, [el("b", { class: "letter" }, [letter(i)]), el("span", { class: "swatch " + part[0] }), words.parts[part[0]] || part[0]]),
      el("td", { class: "right" }, [mib(part[1])]), el("td", { class: "right" }, [share.format(part[1] / whole)])]));
  }
  // The card's total in nvidia-smi and what CUDA offers of it: less on Linux, by observation or by rule.
  function totals(gpu) {
    const text = gpu.cuda_basis === "observed" ? words.seen : gpu.cuda_basis === "rule" ? words.unseen : "";
    return fill(text, { gpu: gpu.name, total: gib(gpu.memory_bytes), cuda: gib(gpu.cuda_bytes) });
  }
  function standing(r) {
    if (!r.gpu) return "needs";
    const room = r.gpu.left_bytes, bounds = r.bounds.process_bytes;
    if (r.process_bytes > room) return bounds.low > room ? "not" : "hardly";
    return bounds.high <= room ? "fits" : "tight";
  }
  const signs = { fits: "\u2713", tight: "\u2248", hardly: "\u2248", not: "\u2717" };
  function verdict(r, how) {
    const bounds = r.bounds.process_bytes, room = r.gpu ? r.gpu.left_bytes : 0, list = parts(r);
    const values = { process: gib(r.process_bytes), card: gib(room), margin: gib(Math.abs(room - r.process_bytes)) };
    root.dataset.verdict = how;
    put("badge", how === "needs" ? [] : [el("span", { "aria-hidden": "true" }, [signs[how] + " "]), words.badges[how]]);
    put("number", [gib(r.process_bytes)]);
    put("range", [fill(words.range, { low: gib(bounds.low), high: gib(bounds.high) })]);
    put("verdict", [fill(words[how], values)]);
    put("totals", [r.gpu ? totals(r.gpu) : ""]);
    put("bar", [bar(list, r.process_bytes, room)]);
    put("parts", table(list, r.process_bytes));
  }
  function chip(key) {
    return el("li", {}, [el("code", {}, [key + " = " + state[key]]),
      button("\u00d7", () => { change({ [key]: null }, "push"); out("chips").focus(); }, { "aria-label": fill(words.remove, { setting: key }) })]);
  }
  function chips() {
    const keys = Object.keys(state).filter((key) => key !== "preset" && key !== "gpu" && state[key] !== "");
    put("chips", keys.map(chip));
    out("chips").hidden = !keys.length;
  }

  // ---- what is wrong -----------------------------------------------------------------------------
  // The library's errors are a name and arguments; their sentences are words of the page, which come after the first number.
  page.sentence = function (message) {
    const text = page.sentences && page.sentences[message.id];
    const values = Object.assign({ field: message.field }, message.args);
    return text ? fill(text, values) : message.text || (page.sentences ? message.id : "\u2026");
  };
  // What would mend it, one change a button.
  const remedies = {
    quantized_needs_lora: () => [{ lora_rank: "16" }, { task: "inference" }],
    heads_divide_width: (args) => [{ n_head: args.near_heads }, { n_embd: args.near_width }],
    longer_than_positions: (args) => [{ block_size: args.seq_len }],
    fp8_trains: () => [{ task: "inference" }],
    unknown_preset_near: (args) => [{ preset: args.near }],
    unknown_gpu_near: (args) => [{ gpu: args.near }],
  };
  function remedy(changes) {
    const text = Object.keys(changes).map((key) => key + " = " + changes[key]).join(", ");
    return button(text, () => change(changes, "push"));
  }
  // The form shows what was read without the value that is wrong, and that value as it was written.
  function showWrong(error) {
    const text = flat().split("\n").filter((l) => !error.field || !l.startsWith(error.field + " =")).join("\n");
    core.clear();
    core.parse("flat", text);
    const config = core.ask("config").value;
    if (error.field in state) config[error.field] = state[error.field];
    arrange(config);
    show(config);
  }
  function complain(error) {
    const about = [error.field].concat(Object.keys(error.args || {}));
    showWrong(error);
    root.querySelectorAll("[data-key]").forEach((control) => {
      const wrong = error.field ? control.dataset.key === error.field : about.includes(control.dataset.key);
      if (wrong) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-describedby", "calc-verdict"); }
    });
    const make = remedies[error.id] || (/^compile_/.test(error.id) ? () => [{ compile: "none" }] : null);
    put("verdict", [page.sentence(error)]);
    put("remedies", make ? make(error.args || {}).map(remedy) : []);
  }
  function settle() {
    root.querySelectorAll("[aria-invalid]").forEach((control) => {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-describedby");
    });
    put("remedies", []);
  }

  // A card that serves is answered by its own script: a server counts otherwise than a step of PyTorch.
  function update() {
    const serves = state.task === "inference" && state.gpu && page.serves, answer = serves ? serves() : core.estimate(flat());
    settle();
    root.classList.toggle("wrong", answer.code !== 0);
    root.querySelectorAll(".figure, .picture, .answer").forEach((e) => { e.inert = answer.code !== 0; });
    chips();
    if (answer.code !== 0) { complain(answer.value.error); return; }
    const r = page.report = answer.value;
    arrange(r.config);
    show(r.config);
    root.classList.toggle("serves", Boolean(serves));
    if (serves) page.served(r);
    else verdict(r, standing(r));
    page.after.forEach((after) => after(r));
  }

  // ---- a box that finds a name: presets and cards ------------------------------------------------
  const simple = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ");
  page.finds = (text, query) => simple(query).trim().split(" ").every((word) => simple(text).includes(word) || simple(text).replace(/ /g, "").includes(word));
  function combo(input, items, choose) {
    const list = document.getElementById(input.getAttribute("aria-controls"));
    let active = -1, open = false;
    const options = () => Array.from(list.querySelectorAll("[role=option]"));
    function close() {
      open = false;
      active = -1;
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }
    function option(item, i) {
      const o = el("div", { role: "option", id: list.id + i, "aria-selected": String(item.value === input.dataset.value) },
        [el("span", {}, [item.value || item.label]), el("small", {}, [item.value ? item.label : ""])]);
      o.addEventListener("mousedown", (e) => { e.preventDefault(); take(item); });
      o.item = item;
      return o;
    }
    function fillList(query) {
      const found = items.filter((item) => page.finds(item.value + " " + item.label + " " + item.group, query)), groups = new Map();
      found.forEach((item, i) => {
        if (!groups.has(item.group)) groups.set(item.group, []);
        groups.get(item.group).push(option(item, i));
      });
      list.replaceChildren.apply(list, Array.from(groups, (entry) =>
        el("div", { role: "group", "aria-label": entry[0] || words.none }, [el("p", { "aria-hidden": "true" }, [entry[0]])].concat(entry[1]))));
    }
    function show(query) {
      fillList(query);
      open = true;
      list.hidden = !list.firstChild;
      input.setAttribute("aria-expanded", String(!list.hidden));
    }
    function mark(i) {
      const all = options();
      if (!all.length) return;
      active = (i + all.length) % all.length;
      all.forEach((o, k) => o.classList.toggle("active", k === active));
      all[active].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", all[active].id);
    }
    function take(item) {
      close();
      input.value = item.value;
      input.dataset.value = item.value;
      choose(item.value);
    }
    function leave() {
      if (!open) return;
      const typed = input.value.trim(), item = items.find((x) => x.value.toLowerCase() === typed.toLowerCase());
      if (item && item.value !== input.dataset.value) take(item);
      else { close(); input.value = input.dataset.value || ""; }
    }
    const keys = {
      ArrowDown: () => { if (!open) show(""); mark(active + 1); },
      ArrowUp: () => { if (!open) show(""); mark(active - 1); },
      Enter: () => { const o = options()[Math.max(active, 0)]; if (open && o) take(o.item); },
      Escape: () => { close(); input.value = input.dataset.value || ""; },
    };
    input.addEventListener("keydown", (e) => {
      if (!keys[e.key] || (e.key === "Escape" && !open)) return;
      e.preventDefault();
      keys[e.key]();
    });
    input.addEventListener("input", (e) => { e.stopPropagation(); show(input.value); if (input.value) mark(0); });
    input.addEventListener("click", () => { if (!open) { input.select(); show(""); } });
    input.addEventListener("blur", leave);
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
    combo(form.elements.preset, [{ value: "", label: words.own, group: "" }].concat(presets),
      (name) => replace(withPreset(name)));
    combo(form.elements.gpu, [{ value: "", label: words.none, group: "" }].concat(cards), (name) => change({ gpu: name }, "push"));
  }
  root.addEventListener("input", (e) => {
    const key = e.target.dataset.key;
    if (e.target.name === "calc-task") { choose(e.target.value); return; }
    if (!key || !fields.has(key)) return;
    const value = readNumber(e.target.value, fields.get(key));
    if (e.target.name === "n_gpu") divide(value);
    change(value === "" ? { [key]: null } : { [key]: value }, e.target.tagName === "SELECT" ? "push" : "type");
  });
  function choose(name) {
    const config = base(), changes = Object.assign({}, TASKS[name].set);
    if (name === "tune") changes.lora_rank = "16";
    if (name === "tune" && config.compile !== "none") changes.compile = "none";
    change(changes, "push");
  }
  form.addEventListener("submit", (e) => e.preventDefault());
  addEventListener("pagehide", () => { if (later) address("replaceState"); });
  addEventListener("hashchange", () => { clearTimeout(later); edited = ""; if (read()) update(); });

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
  page.flat = flat;
  page.state = () => state;
  Object.assign(page, { el, put, button, fill, gib, mib, share, whole, parts, bar, table, totals, change, replace, withPreset, update, base, readNumber, lengthKey, letter, standing, signs });

  async function begin() {
    document.documentElement.classList.add("calculates");   // :has(.calc) would be asked again for each element that changes
    document.head.append(el("link", { rel: "stylesheet", href: root.dataset.style }));
    const module = page.module("wasm", "vramWasm"), script = page.load("core");
    await script;
    page.bytes = await module;
    core = page.core = await window.vramOpen(page.bytes);
    prepare();
    if (!read()) Object.assign(state, start);
    if (state.task === "inference") await page.load("card");
    update();
    root.classList.add("ready");
    await page.load("words");
    page.sentences = window.vramSentences;
    if (!page.serves) await page.load("card");
    await page.load("more");
    await page.load("step");
    await page.load("paste");
    update();
    root.classList.add("whole");
    if (page.handed) page.paste(page.handed);
  }
  begin();
})();
