// Changing the calculator's run: numbers as people write them, boxes that find a preset or a card, what is wrong and what would
// mend it, the reader's steps in the address. Comes right after the first number.
(function () {
  "use strict";
  const page = window.vramPage;
  const { root, words, form, fields, put, el, button, set, base, state } = page;
  let edited = "";

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

  // ---- the address ---------------------------------------------------------------------------------
  // What is typed waits for a pause: browsers count changes of the address.
  let later = 0;
  function address(how) {
    const hash = "#" + new URLSearchParams(state());
    clearTimeout(later);
    if (hash !== location.hash) history[how](null, "", hash);
  }
  function write(push) {
    clearTimeout(later);
    if (push) address("pushState");
    else later = setTimeout(address, 200, "replaceState");
  }

  // ---- changes -----------------------------------------------------------------------------------------
  // Several GPUs want a scheme that divides among them, one GPU wants none.
  function divide(count) {
    if (!(Number(count) > 1)) delete state().parallel;
    else if (!state().parallel && base().parallel === "none") set("parallel", "fsdp2");
  }
  // Where the last number took long, what is typed is painted first: its number comes in the task behind that picture, one for all
  // that was typed until then. Whoever asks for the report before has it made.
  const LONG = 30;
  let report = page.report, due = 0, turn = 0;
  const settled = page.settled;
  page.settled = () => !due && settled();
  Object.defineProperty(page, "report", { get: () => { if (due) now(true); return report; }, set: (r) => { report = r; } });
  page.stands = (r) => !due && report === r;   // whether r is the report of what is set
  function now(typed) {
    due = 0;
    page.update(typed);
  }
  function soon() {
    if (page.took < LONG) { now(true); return; }
    const own = due = ++turn;
    page.painted(() => { if (due === own) now(true); });
  }
  // Changes of the reader: kept is "push" for one that Back undoes, "type" while a value is typed.
  function change(changes, kept) {
    const key = kept === "type" ? Object.keys(changes)[0] : "";
    Object.keys(changes).forEach((name) => set(name, changes[name]));
    if (key) soon();
    else now(false);
    write(!key || key !== edited);
    edited = key;
  }
  // Another model keeps how it is run, and drops what was said of the last one's shape.
  function withPreset(name) {
    const next = name ? { preset: name } : {};
    Object.keys(state()).forEach((key) => {
      const field = fields.get(key);
      if (key !== "preset" && !(field && field.group === "model")) next[key] = state()[key];
    });
    return next;
  }
  function replace(next) {
    page.state(next);
    edited = "";
    Object.keys(next).filter((key) => fields.has(key)).forEach((key) => set(key, next[key]));
    write(true);
    now(false);
  }

  // ---- what is wrong -----------------------------------------------------------------------------
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
    const text = page.flat().split("\n").filter((l) => !error.field || !l.startsWith(error.field + " =")).join("\n");
    page.core.clear();
    page.core.parse("flat", text);
    const config = page.core.ask("config").value;
    if (error.field in state()) config[error.field] = state()[error.field];
    page.arrange(config);
    page.show(config);
  }
  function complain(error) {
    const about = [error.field].concat(Object.keys(error.args || {}));
    showWrong(error);
    root.querySelectorAll("[data-key]").forEach((control) => {
      const wrong = error.field ? control.dataset.key === error.field : about.includes(control.dataset.key);
      if (wrong) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-describedby", "calc-verdict"); }
    });
    const make = remedies[error.id] || (/^compile_/.test(error.id) ? () => [{ compile: "none" }] : null);
    put("verdict", [page.told(error)]);
    put("remedies", make ? make(error.args || {}).map(remedy) : []);
  }

  // ---- a box that finds a name: presets and cards ------------------------------------------------
  const simple = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ");
  page.finds = (text, query) => simple(query).trim().split(" ").every((word) => simple(text).includes(word) || simple(text).replace(/ /g, "").includes(word));
  function combo(input, all, choose) {
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
    // What a preset is, in the page's language where a sentence says it.
    const told = (item) => (input.name === "preset" && (page.sentences || {})["preset." + item.value]) || item.label;
    function option(item, i) {
      const says = told(item);
      const o = el("div", { role: "option", id: list.id + i, "aria-selected": String(item.value === input.dataset.value) },
        [el("span", {}, [item.value || item.label]), el("small", input.name === "preset" && says === item.label ? { lang: "en" } : {}, [item.value ? says : ""])]);
      o.addEventListener("mousedown", (e) => { e.preventDefault(); take(item); });
      o.item = item;
      return o;
    }
    function fillList(query) {
      const found = all().filter((item) => page.finds([item.value, item.label, told(item), item.group].join(" "), query)), groups = new Map();
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
      const typed = input.value.trim(), item = all().find((x) => x.value.toLowerCase() === typed.toLowerCase());
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
    // What was typed is rather all of a name's end, "RTX 3090", than its beginning, "RTX 3090 Ti".
    function nearest(query) {
      const end = " " + simple(query).trim();
      return Math.max(options().findIndex((o) => (" " + simple(o.item.value)).endsWith(end)), 0);
    }
    input.addEventListener("input", (e) => { e.stopPropagation(); show(input.value); if (input.value) mark(nearest(input.value)); });
    input.addEventListener("click", () => { if (!open) { input.select(); show(""); } });
    input.addEventListener("blur", leave);
  }
  combo(form.elements.preset, () => [{ value: "", label: words.own, group: "" }].concat(page.presets), (name) => replace(withPreset(name)));
  combo(form.elements.gpu, () => [{ value: "", label: words.none, group: "" }].concat(page.cards), (name) => change({ gpu: name }, "push"));

  // ---- what the reader does ------------------------------------------------------------------------
  root.addEventListener("input", (e) => {
    const key = e.target.dataset.key;
    if (e.target.name === "calc-task") { choose(e.target.value); return; }
    if (!key || !fields.has(key)) return;
    const value = readNumber(e.target.value, fields.get(key));
    if (e.target.name === "n_gpu") divide(value);
    change(value === "" ? { [key]: null } : { [key]: value }, e.target.tagName === "SELECT" ? "push" : "type");
  });
  function choose(name) {
    const config = base(), changes = Object.assign({}, page.TASKS[name].set);
    if (name === "tune") changes.lora_rank = "16";
    if (name === "tune" && config.compile !== "none") changes.compile = "none";
    change(changes, "push");
  }
  form.addEventListener("submit", (e) => e.preventDefault());
  addEventListener("pagehide", () => { if (later) address("replaceState"); });
  addEventListener("hashchange", () => { clearTimeout(later); edited = ""; if (page.read()) now(false); });

  Object.assign(page, { change, replace, withPreset, readNumber, complain });
  if (root.matches(".wrong")) page.update();
  // What was typed before this script was there.
  root.querySelectorAll("[data-out=fields] [data-key]").forEach((control) => {
    if (control.value !== control.dataset.value) control.dispatchEvent(new Event("input", { bubbles: true }));
  });
})();
