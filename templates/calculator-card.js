// The card: what a server of the model has room for on it, the card as cells of 64 MiB, and the allocator's segments in it.
(function () {
  "use strict";
  const page = window.vramPage;
  const { words, out, el, put, say, button, fill, gib, whole } = page;
  const MiB = 1048576, CELL = 64 * MiB;
  const told = (name) => (page.sentences || {})["card." + name] || "";   // not among the words that the first number waits for

  function svg(name, attributes, children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(attributes).forEach((key) => e.setAttribute(key, attributes[key]));
    e.append.apply(e, children || []);
    return e;
  }

  // What the verdict says of memory that the allocator keeps and a full card gets back.
  page.cached = function (r, how, values) {
    values.shown = gib(r.process_bytes);
    if (r.process_bytes > r.bounds.needed_bytes.high) return told("kept");
    return how === "tight" && r.alloc_retries ? told("returned") : "";
  };

  // ---- serving: the answer of `vramcalc serve` ----------------------------------------------------------------
  page.serves = function () {
    const core = page.core;
    core.clear();
    const read = core.parse("flat", page.flat());
    if (read.code !== 0) return read;
    const answer = core.ask("serving");
    if (answer.code === 0) answer.value.config = core.ask("config").value;
    return answer;
  };
  // What lies on the card: without room for a cache there is none.
  function parts(s) {
    return [["parameters", s.weights_bytes], [s.server === "vllm" ? "activations" : "workspaces", s.work_bytes], ["kv_cache", s.pool_bytes],
      ["context", s.context_bytes]].filter((part) => part[1] >= MiB);
  }
  const sum = (list) => list.reduce((all, part) => all + part[1], 0);
  const count = (s) => fill(told("served"), { sequences: whole.format(s.sequences), length: whole.format(s.length) });
  page.served = function (s) {
    const list = parts(s), server = s.server === "vllm" ? "vLLM" : s.server;
    page.badge(s.sequences ? "fits" : "not", s.sequences ? "\u2713" : "\u2717");
    say(out("number"), count(s));
    say(out("range"), fill(told("longest"), { tokens: whole.format(s.longest) }));
    say(out("verdict"), s.refusal ? page.told(s.refusal) : fill(told("room"), { server, gpu: s.gpu, pool: gib(s.pool_bytes), tokens: whole.format(s.tokens) }));
    page.bar(list, sum(list), s.gpu_bytes);
  };
  function taken(s) {
    if (!s.server) return;
    page.table(parts(s), sum(parts(s)));
    say(out("totals"), s.note ? page.sentence(s.note) : "");
  }

  // The lengths that are drawn: halves of what the model knows.
  function lengths(c) {
    const list = [], most = Math.max(c.block_size, Number(c.seq_len) || 0);
    for (let n = most, i = 0; n >= 128 && i < 8; n = Math.floor(n / 2), i++) list.unshift(n);
    return list;
  }
  // The cache of as many sequences as find room, each a piece; what is left is no whole sequence.
  function cacheBar(s, most) {
    const box = el("span", { class: "mini cut", "aria-hidden": "true" }, []), one = Math.ceil(s.length / s.block_tokens) * s.block_tokens * s.token_bytes;
    for (let i = 0; i < Math.min(s.sequences, 64); i++) {
      const piece = el("i", { class: "kv_cache" }, []);
      piece.style.inlineSize = (100 * (i < 63 ? one : one * (s.sequences - 63)) / most).toFixed(3) + "%";
      box.append(piece);
    }
    return box;
  }
  function lengthRow(s) {
    const row = el("li", {}, [el("span", {}, [el("b", { class: s.sequences ? "good" : "bad-mark" }, [s.sequences ? "\u2713 " : "\u2717 "]),
      button(whole.format(s.prompt), () => page.change({ seq_len: s.prompt }, "push"), { class: "plain" })]),
      cacheBar(s, s.pool_bytes || 1), el("span", { class: "right" }, [whole.format(s.sequences) + " \u00d7"])]);
    if (s.length - s.prompt === Number(page.report.config.max_new_tokens) && Number(page.report.config.seq_len) === s.prompt) row.className = "now";
    return row;
  }
  function others(s) {
    const next = s.longest - Number(s.config.max_new_tokens), free = next > 0 && next !== Number(s.config.seq_len);
    put("solve", [el("li", { "data-solve": "seq_len" }, [el("span", {}, [words.labels.seq_len + " "]),
      next > 0 ? button("seq_len = " + whole.format(next), () => page.change({ seq_len: next }, "push"), free ? {} : { disabled: "" }) : words.nothingfits])]);
    out("solve").dataset.keys = "serve";
    page.later("cards", "servers", [], (answer) => {
      if (!page.stands(s)) return;
      out("cards").classList.remove("late");
      delete out("cards").dataset.told;   // what a step said of cards is no longer there
      put("cards", answer.value.length ? answer.value.map((c) => el("li", {}, [
        button((c.count > 1 ? whole.format(c.count) + " \u00d7 " : "") + c.gpu, () => page.change({ gpu: c.gpu, tensor_parallel: c.count > 1 ? c.count : null }, "push")),
        el("small", {}, [" " + whole.format(c.sequences) + " \u00d7 " + whole.format(s.length)])])) : [el("li", {}, [words.nothingfits])]);
    });
  }
  let wait = 0;
  function serving(r) {
    const section = out("serving").closest("section");
    section.hidden = !r.server;
    clearTimeout(wait);
    if (!r.server) return;
    out("solve").closest("section").hidden = false;
    wait = setTimeout(() => {
      if (!page.later) return;   // it comes, and asks again
      others(r);
      page.later("lengths", "lengths", [lengths(r.config)], (answer) => { if (page.stands(r)) put("serving", answer.value.map(lengthRow)); });
    }, 120);
  }

  // ---- the card as cells of 64 MiB: what does not fit hangs over its edge ---------------------------------------
  const SIDE = 10, GAP = 1.5;
  // One path a part, so that a card of 256 GiB is a dozen elements.
  function squares(from, to, across, top) {
    let d = "";
    for (let i = from; i < to; i++) d += "M" + (i % across) * SIDE + " " + (top + Math.floor(i / across) * SIDE) + "h" + (SIDE - GAP) + "v" + (SIDE - GAP) + "h" + (GAP - SIDE) + "z";
    return d;
  }
  // A letter on a part's middle, as in the bar and the table; cells too small for one have none.
  function lettered(part, cell, across, top, i) {
    const size = matchMedia("(max-width: 40rem)").matches ? 9 : 7;
    return across > 64 ? [] : [svg("text", { x: (cell % across) * SIDE + (SIDE - GAP) / 2, y: top + Math.floor(cell / across) * SIDE + (SIDE - GAP + 0.7 * size) / 2, "text-anchor": "middle", "font-size": size * across / 32 }, [page.letter(i)])];
  }
  function cellsOf(list, room) {
    const all = Math.round(sum(list) / CELL), fit = Math.floor(room / CELL), most = Math.max(all, fit);
    const across = most > 6000 ? 160 : most > 1600 ? 96 : most > 500 ? 64 : 32;
    const edge = Math.ceil(fit / across) * SIDE, over = edge + 8, children = [], letters = [];
    let at = 0, bytes = 0;
    list.forEach((part, i) => {
      const begin = at;
      bytes += part[1];
      at = Math.round(bytes / CELL);
      const inside = Math.min(at, fit), d = squares(begin, inside, across, 0) + squares(Math.max(begin, fit) - fit, at - fit, across, over);
      children.push(svg("path", { class: "cat " + part[0], d }, [svg("title", {}, [words.parts[part[0]] + ": " + gib(part[1])])]));
      const middle = Math.floor((begin + at - 1) / 2);
      if (at > begin) letters.push(...(middle < fit ? lettered(part, middle, across, 0, i) : lettered(part, middle - fit, across, over, i)));
    });
    children.push(svg("path", { class: "free", d: squares(at, fit, across, 0) }), ...letters);
    const height = all > fit ? over + Math.ceil((all - fit) / across) * SIDE : edge;
    if (all > fit) children.push(svg("line", { class: "edge", x1: 0, x2: across * SIDE, y1: edge + 3, y2: edge + 3 }));
    return [el("p", { class: "hint" }, [told("cells")]), svg("svg", { viewBox: "0 0 " + (across * SIDE - GAP) + " " + height, "aria-hidden": "true", class: "cells" }, children),
      all > fit ? el("p", { class: "hint" }, [fill(told("over"), { bytes: gib(sum(list) - room) })]) : ""];
  }
  let idle = 0;
  function cells(r) {
    const room = r.server ? r.gpu_bytes : r.gpu ? r.gpu.left_bytes : 0;
    out("cells").hidden = !room;
    clearTimeout(idle);
    if (room) idle = setTimeout(() => { if (!page.stands || page.stands(r)) put("cells", cellsOf(r.server ? parts(r) : page.parts(r), room)); }, 60);
  }

  // ---- segments: what is reserved, and unused ---------------------------------------------------------------------
  const WIDE = 640, HIGH = 13, PITCH = 17;
  // The pieces that are drawn: neighbours of one kind are one.
  function pieces(segment) {
    const list = [];
    segment.blocks.forEach((b) => {
      const kind = b.state === "used" ? b.category : b.state, last = list[list.length - 1];
      if (last && last.kind === kind) { last.bytes += b.bytes; last.names.add(b.tensor); } else list.push({ kind, bytes: b.bytes, names: new Set([b.tensor]) });
    });
    return list;
  }
  // Largest first, as many in a row as have room beside each other.
  function shelves(segments) {
    const total = segments.reduce((all, s) => all + s.bytes, 0), room = Math.max(segments[0].bytes, total / 24), rows = [];
    segments.forEach((s) => {
      let row = rows.find((x) => x.used + s.bytes <= room);
      if (!row) rows.push(row = { used: 0, list: [] });
      row.list.push([row.used, s]);
      row.used += s.bytes;
    });
    return { rows, room };
  }
  function segmentAt(s, x, y, scale) {
    const width = Math.max(1, s.bytes * scale - 2), rects = [svg("rect", { class: "gap", x, y, width, height: HIGH })];
    let at = 0;
    pieces(s).forEach((p) => {
      const from = at * width / s.bytes;
      at += p.bytes;
      const title = p.kind === "free" ? told("unused") : Array.from(p.names).slice(0, 3).join(", ");
      if (p.kind !== "free") rects.push(svg("rect", { class: p.kind === "pending" ? "gap" : "cat " + p.kind, x: x + from, y, width: Math.max(0.2, at * width / s.bytes - from), height: HIGH }, [svg("title", {}, [title + ": " + gib(p.bytes)])]));
    });
    return rects;
  }
  function drawSegments(a) {
    const sorted = a.segments.slice().sort((x, y) => y.bytes - x.bytes), { rows, room } = shelves(sorted), scale = WIDE / room;
    const rects = rows.flatMap((row, i) => row.list.flatMap((entry) => segmentAt(entry[1], entry[0] * scale, i * PITCH, scale)));
    const free = a.reserved_bytes - a.allocated_bytes - a.pending_bytes;
    put("segments", [el("p", {}, [fill(told("gaps"), { tensor: a.tensor, bytes: gib(a.event_bytes), free: gib(free), count: whole.format(a.free_blocks), largest: gib(a.largest_free_bytes) })]),
      svg("svg", { viewBox: "0 0 " + WIDE + " " + rows.length * PITCH, class: "segments", role: "img", "aria-label": words.segments }, rects),
      el("p", { class: "hint" }, [fill(told("segments_of"), { reserved: gib(a.reserved_bytes), segments: whole.format(a.segments.length), used: gib(a.allocated_bytes) })])]);
  }
  const closed = out("segments").closest("details");
  function segments(r) {
    closed.hidden = Boolean(r.server);
    if (!closed.open || r.server) return;
    page.later("segments", "segments", ["growth"], (answer) => { if (answer.code === 0 && page.stands(r)) drawSegments(answer.value); });
  }
  closed.addEventListener("toggle", () => { if (closed.open && page.report) segments(page.report); });

  // ---- the same run by the formulas of others -----------------------------------------------------------------------
  const NAMED = { x160: () => told("x160") };   // the others are names
  const signed = new Intl.NumberFormat(page.lang, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" });
  function formula(f) {
    const bytes = f.bytes === null ? [told("beyond")] : [gib(f.bytes), " ", el("bdi", {}, [signed.format(f.difference_permille / 1000).replace("-", "\u2212")])];
    return el("li", {}, [el("b", {}, [NAMED[f.id] ? NAMED[f.id]() : f.name]), " ", ...bytes, el("br"), page.told(f.because)]);
  }
  let formulas = null;   // made when its words are there
  function begin() {
    formulas = el("details", { class: "formulas" }, [el("summary", {}, [told("compare")]), el("ul")]);
    formulas.addEventListener("toggle", () => { if (page.report) compare(page.report); });
    closed.after(formulas);
  }
  function compare(r) {
    if (!formulas && told("compare")) begin();
    if (!formulas) return;
    formulas.hidden = Boolean(r.server);
    if (!formulas.open || r.server) return;
    page.later("compare", "ask", ["compare"], (answer) => {
      if (!page.stands(r)) return;
      const list = answer.code ? [el("li", {}, [page.told(answer.value.error)])] : answer.value.formulas.map(formula);
      formulas.lastChild.replaceChildren(...(answer.code ? list : [el("li", {}, [el("b", {}, [told("run")]), " ", gib(answer.value.peak_live_bytes)]), ...list]));
    });
  }
  // A reader who brings `vramcalc compare` wants to see it.
  page.compares = () => { if (formulas) formulas.open = true; };

  page.after.push(taken, serving, cells, segments, compare);
})();
