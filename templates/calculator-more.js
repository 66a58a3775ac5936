// What the calculator says after its first number: what to change, all settings, how to take the run along. The worker runs
// the library some dozens of times beside the page.
(function () {
  "use strict";
  const page = window.vramPage;
  const { root, words, out, el, put, button, fill, gib, share } = page;
  const sentences = page.sentences || {};
  const told = (name) => sentences["more." + name] || "";   // not among the words that the first number waits for

  // ---- questions that take long: one at a time, of each kind only the latest -------------------------
  // The tensors that live after an event, those of a name together, largest first. The events are kept for the next question.
  function moment(core, flat, event) {
    if (moment.flat !== flat) {
      const answer = core.write("trace", "csv");
      if (answer.code) return answer;
      moment.rows = new TextDecoder().decode(answer.bytes).split("\n");
      moment.flat = flat;
    }
    const live = new Map(), names = new Map();
    let row = [];
    for (let i = 1; i <= event + 1; i++) {
      row = moment.rows[i].split(",");
      if (row[1] === "alloc") live.set(row[2], row);
      else live.delete(row[2]);
    }
    live.forEach((r) => {
      const x = names.get(r[6] + r[5]) || { name: r[6], category: r[5], count: 0, bytes: 0 };
      x.count++;
      x.bytes += Number(r[3]);
      names.set(r[6] + r[5], x);
    });
    return { code: 0, value: { op: row[7], tensors: Array.from(names.values()).sort((a, b) => b.bytes - a.bytes).slice(0, 5) } };
  }
  // What a server answers for each length.
  function lengths(core, flat, list) {
    const one = (n) => { core.clear(); core.parse("flat", flat + "seq_len = " + n + "\n"); return core.ask("serving"); };
    return { code: 0, value: list.map((n) => [n, one(n)]).filter((x) => x[1].code === 0).map((x) => Object.assign({ prompt: x[0] }, x[1].value)) };
  }
  // One to eight of each card that serve at least one sequence of this length, smallest total memory first; of a kind the fewest.
  function servers(core, flat) {
    const bare = flat.replace(/^(gpu|tensor_parallel) = .*\n/gm, ""), found = [];
    core.ask("gpus").value.forEach((gpu) => {
      for (let count = 1; count <= 8; count *= 2) {
        core.clear();
        core.parse("flat", bare + "gpu = " + gpu.name + "\ntensor_parallel = " + count + "\n");
        const s = core.ask("serving");
        if (s.code !== 0 || !s.value.sequences) continue;
        found.push({ gpu: gpu.name, count, total: count * gpu.memory_bytes, sequences: s.value.sequences });
        break;
      }
    });
    return { code: 0, value: found.sort((a, b) => a.total - b.total || a.count - b.count).slice(0, 6) };
  }
  // Pasted and dropped files: the first of the lists that can be read whole, over nothing, or, where none of it says a model or
  // `here` asks for it, over the run as it stands. The files of a list come one over the other: the model first, then what trains it,
  // what divides it last. What they set, and the keys that nothing was made of. A message among them, or at the end of a log, is explained
  // with what the others set, or alone with the run as it stands.
  function reading(core, flat, lists, here) {
    const TURNS = { hf: 0, adapter: 1, generation: 1, accelerate: 3, deepspeed: 4 };
    const turn = (file) => { const t = TURNS[core.recognize(file.text, file.name)]; return t === undefined ? 2 : t; };
    // The defaults are those of gpt2: said by name, the library knows that a model is there.
    const onto = () => { core.clear(); core.parse("flat", (/^preset/.test(flat) ? "" : "preset = gpt2\n") + flat); };
    const known = (list) => list.filter((file) => !file.folder || !/^(flat|nanogpt|log|auto|generation)$/.test(core.recognize(file.text, file.name)));
    function one(files, over) {
      core.clear();
      if (over) onto();
      const before = core.ask("config").value, kinds = [], left = [], notes = [], found = {};
      let message = "";
      for (const file of files) {
        const read = core.read(file.text, file.name);
        if (/^(oom|log)$/.test(read.kind)) message = file.text;
        if (read.kind === "oom") continue;
        if (read.code !== 0) return { kind: read.kind, error: read.value.error, file: files.length > 1 ? file.name : "", onto: over };
        const report = core.ask("report");
        if (report.code === 0) {
          notes.push.apply(notes, report.value.notes);
          left.push.apply(left, report.value.notes.map((note) => note.args.key).filter(Boolean));
        }
        kinds.push(read.kind);
      }
      const after = core.ask("config").value;
      Object.keys(after).forEach((key) => { if (after[key] !== before[key] && after[key] !== null) found[key] = String(after[key]); });
      if (!Object.keys(found).length) { core.clear(); core.parse("flat", flat); }
      const explained = message ? core.explain(message, true) : null, told = explained && (explained.code === 0 || !kinds.length) ? explained : undefined;
      return { kind: kinds.join(" + "), kinds, found: kinds.length ? found : {}, left, notes, onto: over, message: told };
    }
    function whole(list) {
      const files = known(list).sort((a, b) => turn(a) - turn(b)), read = one(files, here);
      return !here && read.error && read.error.id === "model_unsaid" ? one(files, true) : read;
    }
    const all = [];
    for (const list of lists) {
      all.push(whole(list));
      if (!all[all.length - 1].error) return { code: 0, value: Object.assign({ used: all.length - 1 }, all[all.length - 1]) };
    }
    return { code: 0, value: all[all.length - 1] };
  }
  const CALLS = { moment, lengths, servers, reading };
  function answer(core, d) {
    core.clear();
    core.parse("flat", d.flat);
    return CALLS[d.call] ? CALLS[d.call].apply(null, [core, d.flat].concat(d.args)) : core[d.call].apply(core, d.args);
  }
  const SOURCE = "let core;" + [moment, lengths, servers, reading, answer].join(";") + ";const CALLS={moment,lengths,servers,reading};onmessage=function(e){const d=e.data;" +
    "if(d.module){core=vramOpen(d.module);return}core.then(function(c){const a=answer(c,d);delete a.text;postMessage(a)})}";
  const waiting = new Map();
  let worker = null, core = null, busy = null;
  function next() {
    if (busy || !waiting.size || !(worker || core)) return;
    const kind = waiting.keys().next().value;
    busy = waiting.get(kind);
    waiting.delete(kind);
    if (worker) worker.postMessage({ flat: busy.flat, call: busy.call, args: busy.args });
    else setTimeout(() => answered(answer(core, busy)), 0);
  }
  function answered(answer) {
    const job = busy;
    busy = null;
    if (!waiting.has(job.kind)) job.done(answer);
    next();
  }
  page.later = function (kind, call, args, done) {
    waiting.delete(kind);
    waiting.set(kind, { kind, call, args, done, flat: page.flat() });
    next();
  };
  // Beside the page where there are workers, else in it.
  async function employ(module) {
    try {
      const hired = new Worker(URL.createObjectURL(new Blob([window.vramOpen.source + ";" + SOURCE], { type: "text/javascript" })));
      hired.onmessage = (e) => answered(e.data);
      hired.postMessage({ module: module });
      worker = hired;
    } catch (e) { core = await window.vramOpen(module); }
    next();
  }

  const signed = new Intl.NumberFormat(page.lang, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" });

  // ---- advice: cards, each with what it saves ---------------------------------------------------------
  function pairs(text) {
    const changes = {};
    text.split(" ").forEach((pair) => { changes[pair.slice(0, pair.indexOf("="))] = pair.slice(pair.indexOf("=") + 1); });
    return changes;
  }
  function saving(a, before) {
    const part = el("i", {}, []), rest = el("b", {}, []);
    rest.style.inlineSize = (100 * a.process_bytes / before).toFixed(2) + "%";
    part.style.inlineSize = (100 * a.saved_bytes / before).toFixed(2) + "%";
    return el("span", { class: "saving", "aria-hidden": "true" }, [rest, part]);
  }
  function facts(a) {
    const list = [fill(told("saving"), { bytes: gib(a.saved_bytes) })];
    if (a.slowdown_permille) list.push(fill(told("slower"), { share: signed.format(a.slowdown_permille / 1000).replace("-", "\u2212") }));
    return list.concat(told(a.effect) || []).join(" \u00b7 ");
  }
  // Code breaks after an opening bracket, a comma, an equals sign, and not within --a_flag; what is copied stays as it is.
  const flagged = (piece) => (piece.startsWith("--") ? el("span", { class: "flag" }, [piece]) : piece);
  const breakable = (text) => text.split(/(?<=[=(,.])/).flatMap((piece) => piece.split(/(?=--)/).map(flagged).concat(el("wbr")));
  function card(a, before) {
    const apply = button(told("apply"), () => take(a), { "aria-label": told("apply") + ": " + a.change });
    const top = el("p", { class: "change" }, [el("code", {}, [a.change.replace(/ /g, "\n")])]
      .concat(a.fits && !page.report.fits ? [el("span", { class: "badge" }, ["\u2713 " + told("makes_it_fit")])] : []));
    const line = a.line && a.line !== a.change ? [el("p", { class: "line" }, [told("line") + " ", el("code", {}, breakable(a.line))])] : [];
    const e = el("li", a.fits ? { class: "fitting" } : {}, [top, saving(a, before), el("p", {}, [facts(a)])].concat(line, [apply]));
    ["mouseenter", "focusin"].forEach((name) => e.addEventListener(name, () => page.ghost(a.process_bytes)));
    ["mouseleave", "focusout"].forEach((name) => e.addEventListener(name, () => page.ghost(0)));
    return e;
  }
  // The focus stays among the buttons when they are made again.
  let focus = -1;
  function take(a) {
    focus = Array.from(out("advice").querySelectorAll("button")).indexOf(document.activeElement);
    page.change(pairs(a.change), "push");
    put("toast", [fill(told("applied"), { change: a.change }) + " ", button(words.undo, () => history.back())]);
    document.querySelector(".result").scrollIntoView({ block: "nearest" });
  }
  function advise(list, before) {
    const useful = list.filter((a) => a.saved_bytes >= before / 200 && !a.refused);
    // What makes it fit is first, and of that what leaves the model as it is; then what saves most.
    const rank = (a) => (!a.fits || page.report.fits ? 2 : a.effect === "different" ? 1 : 0);
    out("advice").classList.remove("late");
    const order = useful.sort((a, b) => rank(a) - rank(b) || b.saved_bytes - a.saved_bytes).slice(0, 8);
    put("advice", order.length ? order.map((a) => card(a, before)) : [el("li", {}, [told("nothing")])]);
    const buttons = out("advice").querySelectorAll("button");
    if (focus >= 0) (buttons[Math.min(focus, buttons.length - 1)] || out("chips")).focus({ preventScroll: true });
    focus = -1;
  }
  let wait = 0;
  function ask(r) {
    const training = r.config.task !== "inference" && !r.server;
    out("advice").closest("section").hidden = !r.gpu || !training;
    clearTimeout(wait);
    if (!r.gpu || !training) return;
    out("advice").classList.add("late");   // until the new answer is there, the old one is that of another run
    wait = setTimeout(() => page.later("advise", "ask", ["advise"],
      (answer) => { if (answer.code === 0 && page.stands(r)) advise(answer.value.changes, r.process_bytes); }), 120);
  }

  // ---- take it along ----------------------------------------------------------------------------------
  const FLAGS = ["batch_size", "block_size", "gradient_accumulation_steps", "n_layer", "n_head", "n_embd", "dropout", "bias", "dtype", "compile",
    "grad_clip", "eval_only"];
  const quote = (text) => (/[^\w.+=,:-]/.test(text) ? "'" + text + "'" : text);
  function flag(config, key) {
    const value = String(config[key]), python = { "true": "True", "false": "False" };
    if (key === "compile") return "--compile=" + (value === "none" ? "False" : "True");
    return "--" + key + "=" + (python[value] || value);
  }
  const ALLOCATOR = [["expandable_segments", (v) => "expandable_segments:True"], ["max_split_size_mb", (v) => "max_split_size_mb:" + v],
    ["garbage_collection_threshold", (v) => "garbage_collection_threshold:" + v], ["roundup_power2_divisions", (v) => "roundup_power2_divisions:" + v]];
  function environment(config) {
    const list = ALLOCATOR.filter((entry) => config[entry[0]]).map((entry) => entry[1](config[entry[0]]));
    const [major, minor] = String(config.torch).split(".").map(Number);  // before 2.9 the other name alone is known
    const name = major * 1000 + minor < 2009 ? "PYTORCH_CUDA_ALLOC_CONF=" : "PYTORCH_ALLOC_CONF=";
    return list.length ? name + list.join(",") + " " : "";
  }
  // A shell's words, each in one line where it has room; the text is the words with spaces between.
  const shell = (name, list) => put(name, list.flatMap((word, i) => [i ? " " : "", el("span", word.length < 34 ? { class: "flag" } : {}, [word])]));
  function along(r) {
    const config = r.config, state = page.state(), nano = config.family === "gpt2" && config.task !== "inference";
    shell("flags", nano ? environment(config).split(" ").filter(Boolean).concat("python", "train.py", FLAGS.map((key) => flag(config, key))) : []);
    out("flags").closest(".flags").hidden = !nano;
    const known = FLAGS.concat(ALLOCATOR.map((entry) => entry[0]), "preset", "gpu", "n_gpu", "other_memory", "system");
    const left = Object.keys(state).filter((key) => !known.includes(key)).map((key) => key + "=" + state[key]);
    put("unflagged", nano && left.length ? [fill(told("unflagged"), { settings: left.join(" ") })] : []);
    shell("command", ["vramcalc", r.server ? "serve" : "estimate"].concat(page.flat().trim().split("\n").map((l) => {
      const at = l.indexOf(" = ");
      return quote(l.slice(0, at) + "=" + l.slice(at + 3));
    })));
  }
  // Without navigator.clipboard (plain http) the text is chosen, so that one key copies it.
  function choose(e) {
    const range = document.createRange();
    range.selectNodeContents(e);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
  root.addEventListener("click", (e) => {
    const what = e.target.getAttribute("data-copy");
    if (!what) return;
    const text = what === "link" ? location.href.split("#")[0] + "#" + new URLSearchParams(page.state()) : out(what).textContent;
    const said = e.target.parentElement.querySelector("[role=status]");
    const failed = () => { if (what !== "link") choose(out(what)); said.textContent = told("select"); };
    if (!navigator.clipboard) failed();
    else navigator.clipboard.writeText(text).then(() => { said.textContent = told("copied"); }, failed);
  });

  // ---- all settings, out of the library's table ---------------------------------------------------------
  function setting(field) {
    const control = page.control(field.key, "all-"), help = sentences["field." + field.key] || "", id = "help-" + field.key;
    control.id = "all-" + field.key;
    control.setAttribute("aria-describedby", id);
    const values = field.type === "set" ? " (" + field.values.join(", ") + ")" : "";
    const unit = words[field.unit] || told("unit." + field.unit) || field.unit;
    const row = el("div", { class: "setting" }, [el("label", { for: control.id }, [el("code", {}, [field.key])]), control,
      el("p", { id }, [help + values + (unit ? " \u00b7 " + unit : "")])]);
    row.dataset.find = [field.key, field.aliases.join(" "), help].join(" ");
    return row;
  }
  function settings() {
    const groups = new Map();
    page.fields.forEach((field) => {
      if (!groups.has(field.group)) groups.set(field.group, []);
      groups.get(field.group).push(setting(field));
    });
    put("settings", Array.from(groups, (entry) =>
      el("fieldset", {}, [el("legend", {}, [told("group." + entry[0]) || entry[0]])].concat(entry[1]))));
    page.update();
  }
  // What a field of the task means, under the pointer and for a screen reader.
  function meanings() {
    page.form.querySelectorAll(":is([data-out=fields], [data-out=several]) [data-key]:not([title])").forEach((control) => {
      control.title = sentences["field." + control.dataset.key] || "";
    });
  }
  function narrow(query) {
    out("settings").querySelectorAll(".setting").forEach((row) => { row.hidden = !page.finds(row.dataset.find, query); });
    out("settings").querySelectorAll("fieldset").forEach((group) => { group.hidden = !group.querySelector(".setting:not([hidden])"); });
  }
  const all = root.querySelector(".all");
  all.addEventListener("toggle", () => { if (all.open && !out("settings").firstChild) settings(); });
  all.querySelector("input").addEventListener("input", (e) => { e.stopPropagation(); narrow(e.target.value); });
  if (all.open) settings();

  // ---- what the range rests on -------------------------------------------------------------------------
  // Public measurements of such runs; where few are, those of a wider kind, in words. The first number's module has no kinds.
  const most = new Intl.NumberFormat(page.lang, { style: "percent", maximumFractionDigits: 1 });
  const comma = { ar: "\u060c ", ja: "\u3001", zh: "\u3001" }[page.lang.slice(0, 2)] || ", ";
  const apart = (text) => (document.documentElement.dir === "rtl" ? "\u2068" + text + "\u2069" : text);
  const kind = (words) => apart(told("kind." + words.toLowerCase().replace(/\W/g, "_")) || words);
  function seen(bound) {
    const values = { count: whole(bound.measurements), share: apart(most.format(bound.tolerance_percent / 100)) };
    if (!bound.wider_kind) return fill(bound.measurements === 1 ? told("seen.one") : told("seen.own"), values);
    return fill(told("seen.wider"), Object.assign(values, { kind: bound.wider_kind.split(", ").map(kind).join(comma) }));
  }
  function confirmed(r) {
    const known = !r.server && r.bounds.needed_bytes.wider_kind !== undefined, process = known && r.bounds.needed_bytes, inside = known && r.bounds.peak_reserved_bytes;
    const text = !known ? "" : process.measurements ? seen(process) : inside.measurements ? told("seen.inside") + " " + seen(inside) : told("seen.none");
    page.say(out("seen"), text);
  }

  // ---- the phases of a step -----------------------------------------------------------------------------
  const closed = out("phases").closest("details");
  closed.addEventListener("toggle", () => { if (closed.open) phases(page.report); });
  function phases(r) {
    if (!closed.open || r.server) return;
    const top = Math.max.apply(null, r.phases.map((p) => p.peak_live_bytes));
    put("phases", r.phases.map((p) => el("tr", p.peak_live_bytes === top ? { class: "peak" } : {}, [
      el("th", { scope: "row" }, [el("code", {}, [p.name])]), el("td", { class: "right" }, [gib(p.peak_live_bytes)]),
      el("td", { class: "right" }, [share.format(p.peak_live_bytes / top)])])));
  }

  // ---- what would fit: the largest values, and other cards ------------------------------------------------
  // Whether box shows this answer already: its buttons stay, so that no click falls between an old one and its twin.
  function same(box, answer) {
    const told = JSON.stringify(answer);
    if (box.dataset.told === told) return true;
    box.dataset.told = told;
    return false;
  }
  function solved(key, answer, r) {
    const s = answer.value, item = out("solve").querySelector("[data-solve=" + key + "]");
    if (answer.code !== 0 || !page.stands(r) || !item) return;
    item.classList.remove("late");
    if (same(item, s)) return;
    const value = s.safe_value === null ? s.value : s.safe_value;
    const label = el("span", {}, [(key === "n_gpu" ? told("fewest") : words.labels[key]) + " "]);
    if (value === null) { item.replaceChildren(label, words.nothingfits); return; }
    const now = String(value) === String(s.configured);
    item.replaceChildren(label, button(key + " = " + whole(value), () => page.change({ [key]: value }, "push"), now ? { disabled: "" } : {}),
      " ", s.safe_value !== null && s.value !== s.safe_value ? fill(told("hardlyvalue"), { value: whole(s.value) }) : s.safe_value === null ? words.badges.tight : "");
  }
  const whole = (n) => page.whole.format(n);
  function solve(r) {
    const several = Number(r.config.n_gpu) > 1 && r.config.parallel !== "none" ? ["n_gpu"] : [];
    const keys = ["batch_size", page.lengthKey(r.config)].concat(r.config.task === "inference" ? ["max_new_tokens"] : several);
    out("solve").closest("section").hidden = !r.gpu;
    if (!r.gpu) return;
    if (out("solve").dataset.keys !== keys.join(" ")) put("solve", keys.map((key) => el("li", { "data-solve": key }, ["\u2026"])));
    out("solve").dataset.keys = keys.join(" ");
    keys.forEach((key) => page.later("solve " + key, "solve", [key], (answer) => solved(key, answer, r)));
  }
  function choice(c) {
    const name = (c.count > 1 ? whole(c.count) + " \u00d7 " : "") + c.gpu;
    return el("li", {}, [button(name, () => page.change(Object.assign({ gpu: c.gpu }, c.change ? pairs(c.change) : {}), "push")),
      el("small", {}, [" " + fill(told("left"), { bytes: gib(c.margin_bytes) }) + (c.surely ? "" : " \u00b7 " + words.badges.tight)])]);
  }
  function cards(r) {
    page.later("cards", "ask", ["cards"], (answer) => {
      if (answer.code !== 0 || !page.stands(r)) return;
      const list = answer.value.cards.slice(0, 6);
      out("cards").classList.remove("late");
      if (same(out("cards"), list)) return;
      put("cards", list.length ? list.map(choice) : [el("li", {}, [words.nothingfits])]);
    });
  }
  let quiet = 0;
  function beyond(r) {
    clearTimeout(quiet);
    out("solve").querySelectorAll("li").forEach((item) => item.classList.add("late"));
    out("cards").classList.add("late");
    if (!r.server) quiet = setTimeout(() => { solve(r); cards(r); }, 250);
  }

  root.querySelectorAll("[data-copy]").forEach((b) => b.setAttribute("aria-label", b.textContent + ": " + b.previousSibling.textContent.trim().replace(/[:\uff1a]$/, "")));   // of several buttons, what each copies

  // ---- on paper: what was asked, in place of the form -----------------------------------------------------------
  const chosen = (control) => (control.tagName === "SELECT" ? control.selectedOptions[0].textContent : control.value || control.placeholder);
  const pair = (label) => el("div", {}, [el("dt", {}, [(label.querySelector("span") || label).textContent]), el("dd", {}, [chosen(label.control)])]);
  const paper = out("range").closest(".result").appendChild(el("dl", { class: "paper" }));
  addEventListener("beforeprint", () => paper.replaceChildren(...Array.from(page.form.querySelectorAll("fieldset:not(.all *) label[for], fieldset:not(.tasks, .all *) label:not([for])"), pair)));

  page.after.push(meanings, along, phases, ask, beyond, confirmed);
  page.library.then(employ).then(() => { if (out("settings").firstChild) settings(); }, () => {});
})();
