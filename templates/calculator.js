// The calculator in the page: a form over libvram (WebAssembly), its verdict, pictures and advice. Numbers are the library's,
// words are the page's. The state stands in the address, so that a link shows the same thing.
(function () {
  "use strict";
  var root = document.getElementById("calc");
  var words = JSON.parse(document.getElementById("calc-words").textContent);
  var lang = document.documentElement.lang;
  var form = root.querySelector("form");
  var out = function (name) { return root.querySelector("[data-out=" + name + "]"); };
  var MiB = 1048576;
  var initial = { preset: "oom-gpt2", gpu: "RTX 4070" };
  var state = {}, core = null, base = null, waiting = 0;

  // ---- numbers in the reader's language --------------------------------------------------------
  var whole = new Intl.NumberFormat(lang, { maximumFractionDigits: 0 });
  var tenth = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  var share = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 0 });
  var signed = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" });
  function mib(bytes) { return whole.format(bytes / MiB) + "\u00a0" + words.MiB; }
  function gib(bytes) { return tenth.format(bytes / MiB / 1024) + "\u00a0" + words.GiB; }
  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, function (all, name) { return name in values ? values[name] : all; });
  }

  // ---- elements --------------------------------------------------------------------------------
  function el(name, attributes, children) {
    var svg = /^(svg|rect|path|line|text|title|g)$/.test(name);
    var e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { e.setAttribute(key, attributes[key]); });
    (children || []).forEach(function (c) { e.append(c); });
    return e;
  }
  function put(name, children) { out(name).replaceChildren.apply(out(name), children); }

  // ---- state: what differs from the library's defaults, in the address -------------------------
  function read() {
    state = {};
    new URLSearchParams(location.hash.slice(1)).forEach(function (value, key) { state[key] = value; });
    if (!Object.keys(state).length) Object.assign(state, initial);
  }
  function write() {
    history.replaceState(null, "", "#" + new URLSearchParams(state));
  }
  function flat() {
    var first = ["preset", "gpu"].filter(function (key) { return state[key]; });
    var rest = Object.keys(state).filter(function (key) { return state[key] !== "" && first.indexOf(key) < 0; });
    return first.concat(rest).map(function (key) { return key + " = " + state[key]; }).join("\n") + "\n";
  }
  // Keys whose value is another one than the library has without them.
  function differences(config) {
    var found = {};
    Object.keys(config).forEach(function (key) {
      if (config[key] !== base[key] && config[key] !== null) found[key] = String(config[key]);
    });
    return found;
  }

  // ---- the form ----------------------------------------------------------------------------------
  function options(name, list) {
    var select = form.elements[name];
    list.forEach(function (item) { select.append(el("option", { value: item[0] }, [item[1]])); });
  }
  function prepare() {
    options("preset", core.ask("presets").value.map(function (p) { return [p.name, p.name]; }));
    options("gpu", core.ask("gpus").value.map(function (g) { return [g.name, g.name + " · " + gib(g.memory_bytes)]; }));
  }
  // Shows the configuration that the library has made of the state, without disturbing what is being typed.
  function show(config) {
    Array.from(form.elements).forEach(function (control) {
      if (!control.name || control === document.activeElement) return;
      var value = control.name === "preset" ? state.preset || "" : config[control.name];
      if (value === null || value === undefined) value = "";
      control.value = String(value);
    });
  }

  // ---- what is shown -----------------------------------------------------------------------------
  // Parts of what the process takes: tensors alive at the peak by category, what the allocator keeps beyond, the context.
  function parts(r) {
    var list = Object.keys(r.breakdown).map(function (key) { return [key, r.breakdown[key]]; });
    list.push(["cache", r.peak_reserved_bytes - r.peak_live_bytes], ["context", r.context_bytes]);
    return list.filter(function (part) { return part[1] >= MiB; });
  }
  function bar(r) {
    var card = r.gpu ? r.gpu.left_bytes : 0, scale = 1000 / Math.max(card, r.process_bytes), x = 0;
    var picture = el("svg", { viewBox: "0 0 1000 56", "aria-hidden": "true", preserveAspectRatio: "none", class: "bar" });
    if (card) picture.append(el("rect", { x: 0, y: 8, width: card * scale, height: 40, class: "rail" }));
    parts(r).forEach(function (part) {
      var width = part[1] * scale;
      picture.append(el("rect", { x: x, y: 8, width: Math.max(width - 1, 0.5), height: 40, class: "cat " + part[0] }));
      x += width;
    });
    if (card) picture.append(el("line", { x1: card * scale - 1, x2: card * scale - 1, y1: 0, y2: 56, class: "limit" }));
    return picture;
  }
  function table(r) {
    return parts(r).map(function (part) {
      return el("tr", {}, [
        el("th", { scope: "row" }, [el("span", { class: "swatch " + part[0] }), words.parts[part[0]] || part[0]]),
        el("td", { class: "right" }, [mib(part[1])]), el("td", { class: "right" }, [share.format(part[1] / r.process_bytes)]),
      ]);
    });
  }
  // The card's total in nvidia-smi and what CUDA offers of it: less on Linux, by observation or by rule.
  function totals(gpu) {
    var text = gpu.cuda_basis === "observed" ? words.seen : gpu.cuda_basis === "rule" ? words.unseen : "";
    return fill(text, { gpu: gpu.name, total: mib(gpu.memory_bytes), cuda: mib(gpu.cuda_bytes) });
  }
  function verdict(r) {
    if (!r.gpu) return fill(words.needs, { process: mib(r.process_bytes) });
    var room = r.gpu.left_bytes, left = room - r.process_bytes;
    var sure = left < 0 ? r.bounds.process_bytes.low > room : r.bounds.process_bytes.high <= room;
    var text = left < 0 ? (sure ? words.not : words.hardly) : (sure ? words.fits : words.tight);
    return fill(text, { process: mib(r.process_bytes), card: mib(room), margin: mib(Math.abs(left)), gpu: r.gpu.name }) + " " + totals(r.gpu);
  }
  // The highest of the live bytes in each phase, from the first evaluation to the second optimizer step.
  function timeline(r) {
    var top = Math.max.apply(null, r.phases.map(function (p) { return p.peak_live_bytes; }));
    var width = 1000 / r.phases.length;
    var picture = el("svg", { viewBox: "0 0 1000 160", "aria-hidden": "true", preserveAspectRatio: "none", class: "time" });
    r.phases.forEach(function (p, i) {
      var height = 150 * p.peak_live_bytes / top;
      picture.append(el("rect", { x: i * width, y: 160 - height, width: width - 2, height: height, class: p.name.slice(0, 3) + (p.peak_live_bytes === top ? " peak" : "") }));
    });
    return picture;
  }
  function phases(r) {
    return r.phases.map(function (p) {
      return el("tr", {}, [el("th", { scope: "row" }, [el("code", {}, [p.name])]), el("td", { class: "right" }, [mib(p.peak_live_bytes)])]);
    });
  }
  function advice(list) {
    var useful = list.filter(function (a) { return a.saved_bytes > 0 && !a.refused; }).slice(0, 8);
    if (!useful.length) return [el("tr", {}, [el("td", { colspan: 5 }, [words.nothing])])];
    return useful.map(function (a) {
      var button = el("button", { type: "button", "aria-label": words.apply + ": " + a.change }, [words.apply]);
      button.addEventListener("click", function () {
        a.change.split(" ").forEach(function (pair) { var at = pair.indexOf("="); state[pair.slice(0, at)] = pair.slice(at + 1); });
        update();
        out("verdict").scrollIntoView({ block: "nearest" });
      });
      return el("tr", a.fits ? { class: "fitting" } : {}, [
        el("td", {}, [el("code", {}, [a.change.replace(/ /g, "\n")])]), el("td", { class: "right" }, [mib(a.saved_bytes)]),
        el("td", { class: "right" }, [signed.format(a.slowdown_permille / 1000)]),
        el("td", {}, [words.effect[a.effect] || a.effect]), el("td", {}, [button]),
      ]);
    });
  }
  // An out-of-memory message: the tensor that has its size, or shapes that would have it.
  function explained(answer) {
    var r = answer.value, list = r.tensors.length ? r.tensors : r.shapes;
    var rows = list.slice(0, 4).map(function (t) {
      var shape = (t.shape || []).join(" × ") + (t.shape ? " × " + t.element_bytes + " B" : "");
      return el("li", {}, [t.name ? el("code", {}, [t.name]) : "", t.name && shape ? ": " : "", shape, " = " + mib(t.bytes)]);
    });
    return [el("p", {}, [fill(r.tensors.length ? words["oom.found"] : words["oom.none"], { bytes: mib(r.tried_bytes) })]), el("ul", {}, rows)];
  }

  // Advice runs the library some dozens of times: in a worker, where there is one.
  var worker = null, asked = 0;
  function open(bytes) {
    var source = window.vramOpen.source + ";var core;onmessage=function(e){var d=e.data;if(d.bytes)core=vramOpen(d.bytes);" +
      "else core.then(function(c){c.estimate(d.flat);postMessage({id:d.id,list:c.ask('advise').value.changes||[]})})}";
    try {
      worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      worker.onmessage = function (e) { if (e.data.id === asked) put("advice", advice(e.data.list)); };
      worker.onerror = function () { worker = null; };
      worker.postMessage({ bytes: bytes });
    } catch (e) { worker = null; }
  }
  function ask() {
    asked++;
    if (worker) worker.postMessage({ id: asked, flat: flat() });
    else put("advice", advice(core.ask("advise").value.changes || []));
  }

  function commands(config) {
    var keys = ["batch_size", "block_size", "gradient_accumulation_steps", "n_layer", "n_head", "n_embd", "dropout", "bias", "dtype", "compile"];
    var python = { "true": "True", "false": "False", none: "False", "2.4": "True", "2.5": "True" };
    out("flags").textContent = config.family !== "gpt2" ? "" : keys.map(function (key) {
      var value = String(config[key]);
      return "--" + key + "=" + (key === "compile" || key === "bias" ? python[value] : value);
    }).join(" ");
    out("flags").closest(".flags").hidden = config.family !== "gpt2";
    out("command").textContent = "vramcalc estimate " + flat().trim().split("\n").map(function (l) { return l.replace(" = ", "=").replace(/=(.*\s.*)$/, "='$1'"); }).join(" ");
  }

  function update() {
    var answer = core.estimate(flat());
    write();
    root.classList.toggle("wrong", answer.code !== 0);
    if (answer.code !== 0) { put("verdict", [answer.value.error.text]); return; }
    var r = answer.value;
    show(r.config);
    put("verdict", [verdict(r)]);
    root.dataset.fits = r.fits === null ? "" : r.fits;
    put("bar", [bar(r)]);
    put("parts", table(r));
    put("time", [timeline(r)]);
    put("phases", phases(r));
    commands(r.config);
    clearTimeout(waiting);
    if (r.gpu) waiting = setTimeout(ask, 120);
    else put("advice", []);
  }

  // ---- what the reader does ------------------------------------------------------------------------
  form.addEventListener("input", function (e) {
    var name = e.target.name;
    if (!name) return;
    if (name === "preset") state = { preset: e.target.value, gpu: state.gpu || "" };
    else state[name] = e.target.value;
    update();
  });
  form.addEventListener("submit", function (e) { e.preventDefault(); });
  function paste(text) {
    core.estimate(/out of memory/i.test(text) ? flat() : "");
    var read = core.read(text);
    if (read.code !== 0) { put("pasted", [read.value && read.value.error ? read.value.error.text || read.value.error.message : read.text]); return; }
    if (read.kind === "oom") { put("pasted", explained(core.explain(text, true))); return; }
    put("pasted", [fill(words.pasted, { kind: words.kinds[read.kind] || read.kind })]);
    state = Object.assign(differences(core.ask("config").value), { gpu: state.gpu || "" });
    update();
  }
  var area = root.querySelector("textarea");
  area.addEventListener("input", function () { if (area.value.trim()) paste(area.value); });
  // A file may be dropped anywhere on the calculator.
  root.addEventListener("dragover", function (e) { if (e.dataTransfer.types.indexOf("Files") >= 0) e.preventDefault(); });
  root.addEventListener("drop", function (e) {
    var file = e.dataTransfer.files[0];
    if (!file) return;
    e.preventDefault();
    area.closest("details").open = true;
    file.text().then(function (text) { area.value = text; paste(text); });
  });
  root.addEventListener("click", function (e) {
    var what = e.target.getAttribute("data-copy");
    if (!what) return;
    navigator.clipboard.writeText(out(what).textContent).then(function () { put("copied", [words.copied]); });
  });
  addEventListener("hashchange", function () { read(); update(); });

  function load(name, next) {
    var script = document.createElement("script");
    script.src = root.dataset[name];
    script.onload = next;
    document.head.append(script);
  }
  load("core", function () {
    load("wasm", function () {
      var text = atob(window.vramWasm), bytes = new Uint8Array(text.length);
      for (var i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      window.vramOpen(bytes).then(function (opened) { core = opened; base = core.estimate("").value.config; open(bytes); prepare(); read(); update(); root.classList.add("ready"); });
    });
  });
})();
