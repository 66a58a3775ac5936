// What the reader pastes or drops on the calculator: it is recognised, read into the state, and said what was taken.
(function () {
  "use strict";
  const page = window.vramPage;
  const { root, words, put, el, button, fill, gib, mib } = page;
  const said = (name) => (page.sentences || {})["paste." + name] || "";   // not among the words that the first number waits for
  const area = root.querySelector("textarea"), out = page.out("pasted");
  const MOST = 262144, MiB = 1048576;

  // ---- words of a command line, as a shell splits them ---------------------------------------------------
  const tokens = (text) => Array.from(text.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g), (m) => m[0].replace(/['"]/g, ""));
  // Behind `vramcalc VERB`; of solve a field's name is next. A model in place of a file is one that is known here, a file is not.
  function commandLine(text) {
    const list = tokens(text.replace(/\\\n/g, " ").replace(/[|>].*$/s, "")), found = {}, left = [], at = list.indexOf("vramcalc"), verb = at < 0 ? "" : list[at + 1];
    for (let i = at < 0 ? 0 : at + (verb === "solve" ? 3 : 2); i < list.length; i++) {
      const pair = /^(?:--)?([\w-]+)=(.*)$/.exec(list[i]);
      if (pair) take(found, left, pair[1].replace(/-/g, "_"), verb === "sweep" ? pair[2].split(/[,:]/)[0] : pair[2]);
      else if (/^(-g|--gpu)$/.test(list[i]) && list[i + 1]) found.gpu = list[++i];
      else if (/^-/.test(list[i])) i++;
      else if (named(list[i])) Object.assign(found, named(list[i]));
      else left.push(list[i]);
    }
    if (verb === "serve") found.task = "inference";
    return { found, left, verb };
  }
  function take(found, left, key, value) {
    const field = page.fieldOf(key);
    if (key === "preset" || key === "gpu") found[key] = value;
    else if (field) found[field.key] = field.type === "enum" || field.type === "bool" ? spell(field, value) : value;
    else left.push(key);
  }
  // Python's True is "true" here.
  const spell = (field, value) => (/^(True|False)$/.test(value) ? value.toLowerCase() : value);

  // ---- the kinds of text that are known by their look ------------------------------------------------------
  function byAddress(text) {
    const hash = /calculator\.html#([^\s=#]+=\S*)/.exec(text), found = {}, left = [];
    if (!hash) return null;
    new URLSearchParams(hash[1]).forEach((value, key) => take(found, left, key, value));
    return { kind: "flat", found, left };
  }
  function byCommand(text) {
    if (!/^\s*(?:\$\s*)?vramcalc\s/.test(text) && !/^\s*--\w[\w-]*=/.test(text)) return null;
    return Object.assign({ kind: "command" }, commandLine(text));
  }
  // What vramcalc writes: its JSON has the settings, too.
  const OUTPUT = /^(?:[\w-]+: [\d,]+ layers, width |figure,bytes,|\| figure \||Now: [\d,]+ MiB|cards {2,}MiB|(?:(?:probably )?does not fit|fits): [\d,]+ MiB|.*live MiB +allocated)/m;
  function byOutput(text) {
    if (!/^\s*\{\s*"schema": *"vramcalc\/1"/.test(text)) return OUTPUT.test(text) ? { refused: said("output") } : null;
    let config = null;
    try { config = JSON.parse(text).config; } catch (cut) { /* not the whole of it */ }
    const found = {}, left = [];
    Object.keys(config || {}).forEach((name) => { if (config[name] !== null) take(found, left, name, String(config[name])); });
    return config ? { kind: "flat", found, left } : { refused: said("output") };
  }
  const key = (name) => name.toLowerCase().replace(/^nvidia|geforce|[^a-z0-9.]/g, "");
  function cardNamed(text) {
    return page.cards.filter((card) => key(text).includes(key(card.value))).sort((a, b) => b.value.length - a.value.length)[0];
  }
  function bySmi(text) {
    const row = /NVIDIA-SMI|nvidia-smi/.test(text) && /(?<!\d)(\d{1,8}) {0,9}MiB {0,9}\/ {0,9}(\d{1,8}) {0,9}MiB/.exec(text);
    if (!row) return null;
    const card = cardNamed(text.slice(0, row.index)), found = {};
    if (card) found.gpu = card.value;
    else found.gpu_memory = row[2];
    if (Number(row[1]) > 64) found.other_memory = row[1];
    return { kind: "smi", found, left: [] };
  }
  // A model's name, or a preset's whole one, and how its end says that the weights are stored (as calc/model/preset_ids.c has it).
  const STORED = { awq: "awq", "gptq-int4": "gptq", fp8: "fp8", "bnb-4bit": "nf4_double" };
  // The library knows more names of models than the list has.
  function known(name) {
    page.core.clear();
    return page.core.parse("flat", "preset = " + name + "\n").code === 0;
  }
  // A name without what says nothing of sizes: a model of which only the beginning is known is another one.
  const SAME = { deepseekr1: "deepseekv3", "deepseekv3.1": "deepseekv3", qwq32b: "qwen2.532b" };
  function shape(name) {
    const left = key(name).replace(/instruct|chat|base|thinking|deduped|unsloth|bnb4bit|gptqint[48]|awq|fp8|2507|0324|0528/g, "").replace(/(?:it|hf|4k|128k|v0\.[12])$/, "");
    return SAME[left] || left;
  }
  function named(text) {
    const name = /^\s*(?:https?:\/\/(?:huggingface\.co|hf\.co)\/)?([\w.-]+\/)?([\w.-]+)(?![\w.-])\S*\s*$/.exec(text);
    if (!name) return null;
    const is = (of) => page.presets.find((p) => (name[1] ? shape(of) === shape(p.value) : of === p.value));
    const preset = (name[1] && is("hf-" + name[2])) || is(name[2]);   // as published, or nanoGPT's of that name
    if (!preset) return name[1] && known(name[1] + name[2]) ? { preset: name[1] + name[2] } : null;
    const end = /-(awq|gptq-int4|fp8|bnb-4bit)$/i.exec(name[2]);
    return Object.assign({ preset: preset.value }, end ? { quantization: STORED[end[1].toLowerCase()] } : {});
  }
  const HUB = /^\s*(?:https?:\/\/(?:huggingface\.co|hf\.co)\/)?([A-Za-z0-9][\w.-]*\/[\w.-]+)\s*$/;
  function byHub(text) {
    const found = named(text), name = HUB.exec(text);
    if (found) return { kind: "hub", found, left: [] };
    return name && !/\.(?:json|ya?ml|toml|py|sh|txt|log)$/.test(name[1]) ? { unlisted: name[1] } : null;
  }
  // Of a model that is not known: where its config.json is.
  function unlisted(name) {
    const address = "https://huggingface.co/" + name + "/blob/main/config.json";
    say([el("p", { class: "bad" }, coded(page.told({ id: "model_unknown", args: { model: name } }))), el("p", {}, [el("a", { href: address, dir: "ltr" }, [address])])]);
  }
  // A card by its name alone.
  function byCard(text) {
    const card = text.length < 60 && cardNamed(text);
    return card && key(text) === key(card.value) ? { kind: "flat", found: { gpu: card.value }, left: [] } : null;
  }
  // Lines of our own settings; other files have lines like these, too, and keys of their own.
  function byLines(text) {
    const lines = text.split("\n").filter((line) => line.trim() && !/^\s*#/.test(line)), found = {}, left = [];
    if (!lines.length || !lines.every((line) => /^\s*\w+\s*=(?=\s*\S)[^()\[\]{}]+$/.test(line))) return null;
    lines.forEach((line) => {
      const pair = /^\s*(\w+)\s*=([^#]*)/.exec(line);
      take(found, left, pair[1], pair[2].trim().replace(/^(['"])(.*)\1$/, "$2"));
    });
    return left.length ? null : { kind: "flat", found, left };
  }

  // ---- an out-of-memory message --------------------------------------------------------------------------------
  // A card by what CUDA offers of it, which on Windows is all of it: the one looked at if it can be that one.
  // With another driver or ECC a card offers something between that and its total.
  const AMD = /^(?:MI\d|RX |Radeon)/;
  function cardOfSize(bytes, amd) {
    const off = (n) => Math.abs(n - bytes);
    const all = page.core.ask("gpus").value.filter((g) => AMD.test(g.name) === amd).map((g) => (
      { name: g.name, windows: off(g.memory_bytes) < off(g.cuda_bytes), off: Math.min(off(g.memory_bytes), off(g.cuda_bytes)), between: g.cuda_bytes < bytes && bytes < g.memory_bytes }));
    const near = all.filter((g) => g.off < bytes / 100).sort((a, b) => a.off - b.off), now = page.report && page.report.gpu, between = all.filter((g) => g.between);
    return (now && near.find((g) => g.name === now.name)) || near[0] || (between.length === 1 ? Object.assign(between[0], { windows: false, cuda_memory: String(Math.round(bytes / MiB)) }) : null);
  }
  const size = (bytes) => (bytes < 1024 * MiB ? mib(bytes) : gib(bytes, true));
  function tensor(t) {
    const shape = (t.shape || []).join(" \u00d7 ") + (t.shape ? " \u00d7 " + t.element_bytes + " B" : "");
    // in its order also in a text from right to left
    return el("li", {}, [t.name ? el("code", {}, [t.name]) : "", t.name && shape ? ": " : "", el("bdi", { dir: "ltr" }, [shape + " = " + size(t.bytes)])]);
  }
  // Of a segment the hints say what it is: a tensor so small is not why the card is full.
  function sizes(r) {
    if (r.about || r.hints.some((hint) => /^hint_segment/.test(hint.id))) return [];
    const list = r.tensors.length ? r.tensors : r.shapes;
    const text = r.tensors.length ? said("oom.found") : list.length ? said("oom.none") : said("oom.unknown");
    return [el("p", {}, [fill(text, { bytes: size(r.tried_bytes) })]), list.length ? el("ul", {}, list.slice(0, 4).map(tensor)) : null];
  }
  // A sentence of the library, with its `code` as code.
  const marked = (message) => page.sentence(message).split("`").map((part, i) => (i % 2 ? el("code", part.length < 30 ? { class: "flag" } : {}, [part]) : part));
  // What the command line's user is sent to is here a task of the form.
  const SERVES = { hint_vllm_serve: { task: "inference" }, hint_llama_serve: { task: "inference", quantization: "q4_k_m" } };
  function hint(message) {
    const changes = SERVES[message.id], name = root.querySelector("[name=calc-task][value=serve] + span").textContent;
    return el("li", {}, marked(message).concat(changes ? [" ", button(name, () => page.change(changes, "push"))] : []));
  }
  function first(hints) {
    return hints.length ? [el("p", {}, [el("b", {}, [said("oom.first")])]), el("ul", {}, hints.map(hint))] : [];
  }
  // The card is chosen by the message's total: whoever looks at another one is told, and can go back.
  function chosen(r) {
    const card = r.total_bytes && cardOfSize(r.total_bytes, /\bHIP out of memory/.test(area.value)), gpu = card ? card.name : "", before = page.flat();
    const changes = card ? { gpu, system: card.windows ? "windows" : null, cuda_memory: card.cuda_memory || null } : r.total_bytes ? { cuda_memory: String(Math.round(r.total_bytes / MiB)) } : null;
    if (changes) page.change(changes, "push");
    if (!changes || page.flat() === before) return [gpu, null];
    const name = card ? gpu + (card.windows ? ", system = windows" : "") : "cuda_memory = " + changes.cuda_memory;
    return [gpu, el("p", { class: "changed" }, [fill(said("oom.changed"), { gpu: name, total: size(r.total_bytes) }) + " ",
      button(words.undo, (e) => { history.back(); e.target.parentElement.remove(); })])];
  }
  function explained(answer) {
    if (answer.code !== 0) { refuse(page.told(answer.value.error)); return; }
    const read = page.isExample() ? modelIn(area.value, answer.value.about) : null, r = answer.value;
    if (read) accept({ kind: "log", found: read, onto: true }, "");
    const told = read ? [out.querySelector("dl")] : [], [gpu, changed] = chosen(r), whose = page.isExample();
    const sum = r.total_bytes && r.free_bytes !== null && r.allocated_bytes;
    const card = sum ? fill(gpu ? said("oom.card") : said("oom.card").replace(/ ?[(\uff08]\{gpu\}[)\uff09]/, ""), { total: size(r.total_bytes), free: size(r.free_bytes), allocated: size(r.allocated_bytes), gpu }) : "";
    const run = fill(said("oom.about"), { run: page.state().preset || words.own }), held = sizes(r);
    say(told.concat(r.about ? el("p", {}, marked(r.about)) : null, example("oom") || null, card ? el("p", {}, [card]) : null, changed, held, first(r.hints), held.length && !whose ? el("p", {}, [run]) : null).filter(Boolean));
  }
  // A log says which model it loads. Whose server says it serves it.
  function modelIn(text, about) {
    for (const line of text.matchAll(/(?:\bmodel(?:_name_or_path|_id|_path)?['"]?[\s:=,'"]{1,4}|\bvllm serve )([\w.-]+\/[\w.-]*\w)/gi)) {
      const found = named(line[1]);
      if (found) return Object.assign(found, about && about.id === "oom_of_vllm" ? { task: "inference" } : {});
    }
    return null;
  }
  // Whoever says nothing of a model and has chosen none sees an answer about the page's own run.
  function example(kind) {
    const label = root.querySelector("label[for=calc-preset]").textContent;
    return page.isExample() && !/smi|flat|hub/.test(kind) ? el("p", { class: "bad", "data-example": kind }, [fill(said("example"), { label, run: page.state().preset })]) : "";
  }

  // Once a model is chosen, a message is held against that one.
  page.after.push(() => {
    const note = out.querySelector("[data-example]");
    if (!note || page.isExample()) return;
    note.remove();
    if (note.dataset.example === "oom") page.paste(area.value);
  });

  // ---- what is said of it -----------------------------------------------------------------------------------------
  const say = (children) => put("pasted", children);
  // What says nothing of a model is set in the run as it stands; a name alone is another model; a model begins anew.
  function onto(read) {
    const found = read.found;
    const state = page.state(), keys = Object.keys(found), fields = keys.map((name) => page.fields.get(name));
    const model = keys.includes("preset") || fields.some((field) => field && field.group === "model");
    if (!model || read.onto) return Object.assign({}, state, found, found.framework && !found.compile && page.base().compile !== "none" ? { compile: "none" } : {});
    if (found.preset && (keys.length === 1 || read.kind === "hub")) return Object.assign({}, page.withPreset(found.preset), found);
    return Object.assign(state.gpu ? { gpu: state.gpu } : {}, found);
  }
  // What the text itself says: a number that stands in it, a word of it. The rest is what a reader of such files takes for granted.
  const GRANTED = ["cross_entropy", "keep_logits", "evaluation", "compile", "optimizer", "checkpointing", "attention"];
  function says(text, name, value) {
    if (/^\d+$/.test(value)) return new RegExp("(?<![\\d.])" + value + "(?![\\d.]*\\d)").test(text.replace(/(?<=\d)[_,](?=\d{3})/g, ""));
    return !GRANTED.includes(name) || [value.split("_")[0], name.slice(0, 4)].some((word) => word.length > 2 && text.toLowerCase().includes(word));
  }
  // A model that a text names is said by that name: sizes that are the preset's own are neither read nor assumed.
  function byName(read) {
    const note = (read.notes || []).find((each) => each.id === "model_by_name"), core = page.core;
    if (!note || read.found.preset) return { said: [], own: () => false };
    core.clear();
    core.parse("flat", "preset = " + note.args.preset + "\n");
    const sizes = core.ask("config").value;
    return { said: [note.args.model + " = " + note.args.preset],
      own: (name) => page.fields.has(name) && page.fields.get(name).group === "model" && String(sizes[name]) === read.found[name] };
  }
  // adapter_config.json says nothing of its run: that is the one of the model that it names.
  function withRun(read) {
    const named = read.kind === "adapter" && read.notes.find((note) => note.id === "model_by_name");
    if (named) read.found = Object.assign({ preset: named.args.preset }, read.found);
    return read;
  }
  const NAMES = { adapter: "adapter_config.json", deepspeed: "DeepSpeed", generation: "generation_config.json", litgpt: "LitGPT", llamafactory: "LLaMA-Factory", dpo: "DPOConfig", reward: "RewardConfig",
    vllm: "vLLM", llamacpp: "llama.cpp", swift: "ms-swift", sft: "SFTConfig", trainer: "TrainingArguments", unsloth: "Unsloth" };
  function accept(read, text) {
    const model = byName(read);
    page.replace(onto(read));
    const list = (names) => names.flatMap((name, i) => [el("span", {}, [el("code", {}, [name]), i < names.length - 1 ? "," : ""]), " "]);
    const config = page.report.config, assumed = ["batch_size", page.lengthKey(config), "dtype"].filter((name) => !(name in read.found));
    const names = Object.keys(read.found).filter((name) => !model.own(name));
    const set = (name) => name + " = " + read.found[name], known = names.filter((name) => !text || says(text, name, read.found[name]));
    const rows = [[said("read"), model.said.concat(known.map(set))],
      [said("assumed"), names.filter((name) => !known.includes(name)).map(set)
        .concat(read.onto || /smi|hub/.test(read.kind) ? [] : assumed.map((name) => name + " = " + config[name]))],
      [said("ignored"), Array.from(new Set(read.left || []))]].filter((row) => row[1].length);
    // Notes for which the page has a sentence: what changes the answer, not what the rows below say.
    const notes = Array.from(new Set((read.notes || []).filter((note) => page.sentences && page.sentences[note.id]).map(page.told))).slice(0, 6);
    if (read.verb === "sweep") notes.push(said("sweep"));
    say([el("p", {}, [fill(said("pasted"), { kind: said("kind." + (read.kind === "launch" ? "command" : read.kind)) || NAMES[read.kind] || read.kind })]), example(read.kind),
      notes.length ? el("ul", { class: "notes" }, notes.map((note) => el("li", {}, [note]))) : "",
      el("dl", {}, rows.map((row) => el("div", {}, [el("dt", {}, [row[0]]), el("dd", {}, list(row[1]))])))]);
  }
  function refuse(reason) {
    say([el("p", { class: "bad" }, [reason + " " + said("readable")])]);
  }
  // A file that needs another one waits for it; a model that is not known can also be the one that is chosen here.
  const NEEDS = ["model_unknown", "auto_alone", "file_first", "recipe_first"];
  function wait(read, files) {
    const run = fill(said("anyway"), { run: page.state().preset || words.own }), name = read.file ? read.file + ": " : "", here = () => readHere(files);
    say([el("p", { class: "bad" }, [name + page.told(read.error)]), el("p", {}, [said("together")].concat(read.error.id === "model_unknown" ? [" ", button(run, here)] : []))]);
    kept = { files, waits: true };
  }
  const readHere = (files) => page.later("read", "reading", [[files], true], (answer) => done(answer.value, [files]));
  // What was read last, or waits: with it the next file is read together, if that one asks for more or the last one did.
  let kept = { files: [], flat: "" };
  function together(files) {
    const both = kept.files.concat(files);
    if (!kept.files.length || files.length > 1 || !(kept.waits || kept.flat === page.flat())) return [files];
    return kept.waits ? [both, files] : [files, both];
  }
  // A line of words is no setting that is written wrong.
  const isProse = (text, error) => /^(?:no_pair|unknown_key(?:_near)?)$/.test(error.id) && !text.trim().includes("\n") && /^\s*[^\s=]+\s+[^\s=]/.test(text);
  const textOf = (files) => files.map((file) => file.text).join("\n");
  let behind = null;   // a snapshot that came with files: it is held against what they say
  function done(read, lists) {
    finish(read, lists);
    const dump = behind;
    behind = null;
    if (dump && !read.error) takeDump(dump);
  }
  function finish(read, lists) {
    if (read.unlisted) unlisted(read.unlisted);
    else if (read.refused) say([el("p", { class: "bad" }, coded(read.refused))]);
    else if (read.message) {
      if (Object.keys(read.found).length) page.replace(onto(read));
      explained(read.message);
    }
    else if (read.error && NEEDS.includes(read.error.id)) wait(read, lists.reduce((most, files) => (files.length > most.length ? files : most)));
    else if (read.error && lists && isProse(textOf(lists[0]), read.error)) refuse(said("unread"));
    else if (read.error) refuse((read.file ? read.file + ": " : "") + page.told(read.error));
    else if (!Object.keys(read.found).length) refuse(said("unread"));
    else {
      accept(withRun(read), lists ? textOf(lists[read.used]) : "");
      if (read.verb === "compare") page.compares();
      kept = { files: lists ? lists[read.used] : [], flat: page.flat() };
    }
  }
  // ---- a memory snapshot: what was alive in it, beside the estimate of the run as it stands ---------------------------
  const LARGEST = 268435456, LEAST = MiB / 20, ROWS = 6;
  // A column's name, and the members of a category and of the whole that are in it; what the snapshot has no history for has no peak.
  function columns(s) {
    const all = [[said("snapshot.now"), "now", ""]];
    if (s.events) all.push([words.peak, "peak", "peak_"]);
    if (s.estimated_reserved_bytes !== null) all.push([said("snapshot.estimated"), "estimated", "estimated_"]);
    return all;
  }
  function alive(s) {
    const list = columns(s), row = (name, of) => el("tr", {}, [el("th", { scope: "row" }, name)].concat(list.map((c) => el("td", { class: "right" }, [page.whole.format(of(c) / MiB)]))));
    const rows = s.categories.filter((x) => list.some((c) => x[c[1] + "_bytes"] >= MiB / 2)).map((x) =>
      row([el("span", { class: "swatch " + x.category }), words.parts[x.category] || said("snapshot.unknown")], (c) => x[c[1] + "_bytes"]));
    const sums = [row([said("snapshot.all")], (c) => s[c[2] + "requested_bytes"]), row([said("snapshot.reserved")], (c) => s[c[2] + "reserved_bytes"])];
    const head = el("tr", {}, [el("th", { scope: "col" }, [words.MiB])].concat(list.map((c) => el("th", { scope: "col", class: "right" }, [c[0]]))));
    return el("div", { class: "table", role: "group", tabindex: "0", "aria-label": said("kind.snapshot") },
      [el("table", {}, [el("thead", {}, [head]), el("tbody", {}, rows.concat(sums))])]);
  }
  // The end of a path tells more than its beginning.
  const place = (b) => (b.line ? b.file.split("/").slice(-2).join("/") + ":" + b.line + " " + b.name : b.name || said("snapshot.noframe"));
  function block(b) {
    const times = (b.count > 1 ? page.whole.format(b.count) + " \u00d7 " : "") + size(b.bytes);
    return el("li", {}, [el("bdi", { dir: "ltr" }, [times]), " ", el("code", {}, [place(b)]), b.category ? " \u00b7 " + (words.parts[b.category] || b.category) : ""]);
  }
  function largest(title, blocks) {
    const list = (blocks || []).filter((b) => b.bytes * b.count >= LEAST).slice(0, ROWS);
    return list.length ? [el("p", {}, [el("b", {}, [title])]), el("ul", {}, list.map(block))] : [];
  }
  const coded = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, [part]) : part));
  function past(s) {
    const list = [coded(s.events ? fill(said("snapshot.past"), { events: page.whole.format(s.events) }) : said("snapshot.nopast"))];
    if (s.devices > 1) list.unshift([fill(said("snapshot.device"), { device: s.device, devices: page.whole.format(s.devices) })]);
    if (s.oom) list.push([fill(said("snapshot.oom"), { bytes: size(s.oom.tried_bytes), free: size(s.oom.free_bytes), place: place(s.oom.at) })]);
    return list.map((parts) => el("p", {}, parts));
  }
  function held(s) {
    const values = { reserved: size(s.reserved_bytes), segments: page.whole.format(s.segments.length), used: size(s.allocated_bytes), free: size(s.free_bytes), largest: size(s.largest_free_bytes) };
    return el("p", {}, [fill(said("snapshot.held"), values)]);
  }
  function showSnapshot(s) {
    const compared = s.matched_bytes !== null, run = page.state().preset || words.own;
    const match = compared ? [el("p", {}, [fill(said("snapshot.match"), { run, matched: size(s.matched_bytes), unmatched: size(s.unmatched_bytes), missing: size(s.missing_bytes) })])] : [];
    say([el("p", {}, [fill(said("pasted"), { kind: said("kind.snapshot") })]), compared ? example("snapshot") : "", held(s), ...past(s), alive(s), ...match,
      ...largest(compared ? said("snapshot.unexplained") : said("snapshot.blocks"), s.blocks), ...largest(said("snapshot.missing"), s.missing)]);
  }
  // With a run that cannot be estimated the snapshot stands alone.
  function snapshot(data, compared) {
    page.later("snapshot", "snapshot", [data, compared], (answer) => {
      if (answer.code === 0) showSnapshot(answer.value);
      else if (compared && !/^(snapshot|pickle)_/.test(answer.value.error.id)) snapshot(data, false);
      else refuse(page.told(answer.value.error));
    });
  }
  const beside = (data) => snapshot(data, !root.classList.contains("wrong"));
  // The same as JSON.
  const isSnapshot = (text) => /^\s*\{/.test(text) && ["segments", "total_size"].every((name) => text.includes('"' + name + '"'));

  // From the box of the start page: the address has the beginning of the text, the tab all of it.
  function handed(address) {
    let text = "", all = "";
    try {
      text = decodeURIComponent(address);
      all = sessionStorage.getItem("paste") || "";
      sessionStorage.removeItem("paste");
    } catch (refused) { /* what there is of it */ }
    return all.startsWith(text) ? all : text;
  }
  if (page.handed) page.handed = handed(page.handed);
  // A memory snapshot is no text, by its first two bytes.
  const pickled = (file) => file.slice(0, 2).arrayBuffer().then((head) => { const [a, b] = new Uint8Array(head); return a === 0x80 && b > 1 && b < 6; });
  // Thousands of lines take a browser seconds to lay out: the box has the first ones, and all of them are read.
  const LINES = 2000;
  function beginning(text) {
    let at = -1;
    for (let i = 0; i < LINES; i++) if ((at = text.indexOf("\n", at + 1)) < 0) return text;
    return text.slice(0, at + 1) + "\u2026";
  }
  area.addEventListener("paste", (e) => {
    const files = Array.from(e.clipboardData.files), text = e.clipboardData.getData("text/plain");
    const replaces = area.selectionEnd - area.selectionStart === area.value.length;
    if (files.length) takeFiles(files);
    else if (replaces && beginning(text) !== text) page.paste(text);
    else return;
    e.preventDefault();
  });
  // What is known by its look is read here, all else by the library beside the page.
  page.paste = function (text, name) {
    area.value = beginning(text);
    if (text.length > MOST) { area.value = ""; refuse(said("toolong")); return; }
    if (/^[\u0080\ufffd][\u0002-\u0005]/.test(text)) { refuse(page.told({ id: "text_is_snapshot" })); return; }   // as text it has lost bytes
    if (isSnapshot(text)) { beside(text); return; }
    const read = [byAddress, byOutput, byCommand, bySmi, byHub, byCard, byLines].reduce((found, reader) => found || reader(text), null);
    if (!read) { pasteAll([{ text, name: name || "" }]); return; }
    const files = kept.waits && read.found.preset ? kept.files : null;   // the model that they wait for
    done(read);
    if (files) readHere(files);
  };
  function pasteAll(files) {
    const lists = together(files);
    page.later("read", "reading", [lists, false], (answer) => done(answer.value, lists));
  }

  const SAMPLES = {
    config: '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, ' +
      '"intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}',
    oom: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.07 GiB. GPU 0 has a total capacity of 11.60 GiB of which 412.00 MiB " +
      "is free. Of the allocated memory 10.74 GiB is allocated by PyTorch, and 206.13 MiB is reserved by PyTorch but unallocated.",
    command: "vramcalc estimate preset=llama-3.1-8b lora_rank=16 quantization=nf4 checkpointing=block gpu='RTX 4090'",
    settings: "batch_size = 8\nblock_size = 1024\nn_layer = 24\nn_head = 16\nn_embd = 1024\ndtype = 'bfloat16'\ncompile = False",
  };
  let pause = 0;
  area.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => { if (area.value.trim()) page.paste(area.value); else say([]); }, 60);
  });
  root.addEventListener("click", (e) => {
    const sample = SAMPLES[e.target.getAttribute("data-sample")];
    if (!sample) return;
    page.paste(sample);
  });
  // Files that were chosen or dropped; of a folder those that are read, of which the others are no error, settings before scripts.
  const READ = ["json", "yaml", "yml", "toml", "sh", "py", "txt", "log"], MANY = 20;
  const rank = (f) => READ.indexOf(f.name.split(".").pop().toLowerCase());
  function takeFiles(list, folder) {
    const all = folder ? list.filter((f) => rank(f) >= 0 && f.size <= MOST).sort((a, b) => rank(a) - rank(b)) : list, files = all.slice(0, MANY);
    if (!files.length) { refuse(said("unread")); return; }
    Promise.all(files.map(pickled)).then((are) => {
      const texts = files.filter((f, i) => !are[i]), dump = files.find((f, i) => are[i]);
      if (texts.some((f) => f.size > MOST)) refuse(said("toolong"));
      else if (dump && dump.size >= LARGEST) refuse(said("snapshot.toolong"));
      else if (texts.length) { behind = dump || null; takeTexts(texts, folder); }
      else takeDump(dump);
    });
  }
  const takeDump = (file) => file.arrayBuffer().then((bytes) => { area.value = ""; beside(new Uint8Array(bytes)); });
  function takeTexts(files, folder) {
    Promise.all(files.map((f) => f.text().then((text) => ({ text, name: f.name, folder })))).then((all) => {
      if (all.length === 1) { page.paste(all[0].text, all[0].name); return; }
      area.value = "";
      pasteAll(all);
    });
  }
  root.querySelector("input[type=file]").addEventListener("change", (e) => {
    const files = Array.from(e.target.files);
    e.target.value = "";   // the same file again, when it was edited, is a change again
    if (files.length) takeFiles(files);
  });
  // They may be dropped anywhere on the calculator, a folder too.
  root.addEventListener("dragover", (e) => { if (e.dataTransfer.types.includes("Files")) { e.preventDefault(); root.classList.add("over"); } });
  root.addEventListener("dragleave", () => root.classList.remove("over"));
  const entryOf = (item) => (item.webkitGetAsEntry ? item.webkitGetAsEntry() : null);
  // A browser tells of a folder by the hundred entries, until there are none.
  async function inside(folder) {
    const reader = folder.createReader(), all = [];
    for (let more = [1]; more.length; all.push(...more)) more = await new Promise((use) => reader.readEntries(use, () => use([])));
    return all;
  }
  const opened = (entry) => new Promise((use) => entry.file(use, () => use(null)));
  root.addEventListener("drop", (e) => {
    root.classList.remove("over");
    const files = Array.from(e.dataTransfer.files);
    if (!files.length) return;
    e.preventDefault();
    const entries = Array.from(e.dataTransfer.items).map(entryOf).filter(Boolean), folders = entries.filter((entry) => entry.isDirectory);
    if (!folders.length) { takeFiles(files); return; }
    // Beside a folder files may be dropped, too.
    const beside = entries.filter((entry) => entry.isFile);
    Promise.all(folders.map(inside)).then((lists) => Promise.all(beside.concat(...lists).filter((entry) => entry.isFile).map(opened)))
      .then((all) => takeFiles(all.filter(Boolean), true));
  });
})();
