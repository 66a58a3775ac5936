// The step as a picture: live memory over the events of a step, stacked by kind of tensor. Under the pointer or the arrow keys
// stand the moment, its operation and the largest tensors. Also the picture of several GPUs, and downloads.
(function () {
  "use strict";
  const page = window.vramPage;
  const { words, out, el, put, fill, gib, whole } = page;
  const told = (name) => (page.sentences || {})["step." + name] || "";   // not among the words that the first number waits for
  const MiB = 1048576, LEFT = 52, RIGHT = 6, TOP = 22, BOTTOM = 34;
  const box = out("step"), rtl = document.documentElement.dir === "rtl";

  function svg(name, attributes, children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(attributes).forEach((key) => e.setAttribute(key, attributes[key]));
    e.append.apply(e, children || []);
    return e;
  }
  const text = (x, y, anchor, words, name) => svg("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: name || "" }, [words]);

  // ---- from events to pixels -----------------------------------------------------------------------------
  const sum = (point) => point.slice(1).reduce((a, b) => a + b, 0);
  const phaseAt = (t, event) => t.phases.find((p) => event >= p.begin && event < p.end) || t.phases[t.phases.length - 1];
  // The iteration in which the peak lies; a run without iterations is shown whole.
  function range(t) {
    const round = /:it(\d+)/.exec(phaseAt(t, t.peak_event).name);
    const own = round ? t.phases.filter((p) => new RegExp(":it" + round[1] + "\\b").test(p.name)) : t.phases;
    return [own[0].begin, own[own.length - 1].end];
  }
  function kindOf(name) {
    const kind = name.split(":")[0];
    return { fwd: words.forward, bwd: words.backward, step: words.optimizer, eval: told("evaluation") }[kind] || kind;
  }
  // A step of 1, 2 or 5 times a power of ten that gives at most five lines.
  function tick(top) {
    const power = Math.pow(10, Math.floor(Math.log10(top / 5)));
    return [1, 2, 5, 10].map((n) => n * power).find((n) => top / n <= 5);
  }
  function frame(t, r, width, height) {
    const [begin, end] = range(t), points = t.points.filter((p) => p[0] >= begin && p[0] < end);
    const limit = r.gpu ? r.gpu.left_bytes - r.context_bytes : 0, high = Math.max.apply(null, points.map(sum));
    const top = (limit > 0 && limit < 2.2 * high ? Math.max(limit, high) : high) * 1.06;
    const x = (event) => LEFT + (width - LEFT - RIGHT) * (event - begin) / Math.max(1, end - 1 - begin);
    const y = (bytes) => TOP + (height - TOP - BOTTOM) * (1 - bytes / top);
    return { t, r, points, begin, end, limit: limit > 0 && limit <= top ? limit : 0, top, x, y, width, height };
  }
  // From the bottom up; a kind that is never there has no area.
  const tenth = (n) => Math.round(n * 10) / 10;
  function areas(f) {
    const xs = f.points.map((p) => tenth(f.x(p[0])) + " "), sums = f.points.map(() => 0);
    let under = xs.map((x) => x + tenth(f.y(0)));
    return f.t.categories.map((name, k) => {
      if (!f.points.some((p) => p[k + 1] > 0)) return null;
      const over = f.points.map((p, i) => xs[i] + tenth(f.y(sums[i] += p[k + 1])));
      const path = svg("path", { class: "cat " + name, d: "M" + over.join("L") + "L" + under.reverse().join("L") + "Z" });
      under = over;
      return path;
    }).filter(Boolean);
  }
  function axis(f) {
    const GiB = 1024 * MiB, by = tick(f.top / GiB), lines = [];
    for (let n = 0; n * by <= f.top / GiB; n++) {
      const y = f.y(n * by * GiB);
      lines.push(svg("line", { class: "grid", x1: LEFT, x2: f.width - RIGHT, y1: y, y2: y }), text(LEFT - 6, y + 4, "end", page.number(n * by)));
    }
    return lines.concat(text(0, 12, "start", words.GiB));
  }
  // One word of a kind's name (Japanese joins them by "of"): the first, or the last where another kind's begins alike ("passe avant", "passe arri\u00e8re").
  function short(kind) {
    const all = kind.split(/[ \u306e]/), kinds = [words.forward, words.backward, words.optimizer, told("evaluation")];
    if (kind === words.optimizer) return all.reduce((a, b) => (b.length > a.length ? b : a));
    return all[kinds.some((other) => other && other !== kind && other.split(" ")[0] === all[0]) ? all.length - 1 : 0];
  }
  // About how wide it is: Chinese and Japanese signs fill squares.
  const wide = (text) => Array.from(text).reduce((sum, sign) => sum + (sign >= "\u2e80" ? 12 : 7), 0);
  // Phases of one kind that follow each other share a name, of which there is one form in a picture.
  function spansOf(f) {
    const spans = [], forms = new Map();
    f.t.phases.filter((p) => p.begin >= f.begin && p.end <= f.end).forEach((p) => {
      const last = spans[spans.length - 1], kind = kindOf(p.name);
      if (last && last.kind === kind) last.end = p.end;
      else spans.push({ kind, begin: p.begin, end: p.end });
    });
    spans.forEach((s) => {
      s.from = f.x(s.begin);
      s.to = f.x(Math.min(s.end, f.end - 1));
      if (!forms.has(s.kind) || wide(s.kind) >= s.to - s.from) forms.set(s.kind, wide(s.kind) < s.to - s.from ? s.kind : short(s.kind));
    });
    spans.forEach((s) => { s.name = forms.get(s.kind); });
    return spans;
  }
  // Names stand below their phases; one that is wider than its phase a row deeper, where there is room between its neighbours.
  function phases(f) {
    const bottom = f.height - BOTTOM;
    let taken = 0;
    return spansOf(f).flatMap((s) => {
      const own = wide(s.name), fits = own < s.to - s.from, middle = (s.from + s.to) / 2, at = fits ? middle : Math.min(Math.max(middle, own / 2), f.width - own / 2);
      const line = svg("line", { class: "phase", x1: s.from, x2: s.from, y1: TOP, y2: bottom + 6 });
      if (!fits && at - own / 2 < taken) return [line];
      if (!fits) taken = at + own / 2 + 6;
      return [line, text(at, bottom + (fits ? 18 : 31), "middle", s.name)];
    });
  }
  function cardLine(f) {
    if (!f.limit) return [];
    const y = f.y(f.limit), label = text(f.width - RIGHT - 2, y - 5, rtl ? "start" : "end", fill(told("cardline"), { bytes: gib(f.limit) }), "strong");
    if (rtl) label.setAttribute("direction", "rtl");
    return [svg("line", { class: "card", x1: LEFT, x2: f.width - RIGHT, y1: y, y2: y }), label];
  }
  let shown = null, at = 0, room = 0;
  function draw(t, r) {
    const width = Math.max(280, room || box.clientWidth), height = width < 500 ? 230 : 300, f = frame(t, r, width, height);
    const children = axis(f).concat(areas(f), phases(f), cardLine(f), svg("line", { class: "cursor", y1: TOP, y2: height - BOTTOM }));
    const picture = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, "aria-hidden": "true" }, children);
    box.replaceChildren(picture);
    shown = f;
    move(f.points.findIndex((p) => p[0] === t.peak_event));
  }

  // ---- the moment under the pointer ---------------------------------------------------------------------------
  function tensors(list) {
    return list.slice(0, 5).map((x) => el("li", {}, [el("span", { class: "swatch " + x.category }), el("code", {}, [x.name]),
      x.count > 1 ? el("span", { class: "times" }, ["\u00d7\u00a0" + whole.format(x.count)]) : "", el("span", { class: "right" }, [gib(x.bytes)])]));
  }
  function describe(op, list) {
    const f = shown, point = f.points[at], phase = phaseAt(f.t, point[0]);
    const moment = fill(told("moment"), { event: whole.format(point[0]), events: whole.format(f.t.events), phase: kindOf(phase.name), bytes: gib(sum(point)) });
    put("moment", [moment + (point[0] === f.t.peak_event ? " \u00b7 " + words.peak : ""), " ", el("code", {}, [phase.name + (op ? " " + op : "")])]);
    put("tensors", tensors(list));
    box.setAttribute("aria-valuetext", moment + (list.length ? ": " + list.slice(0, 5).map((x) => x.name + " " + gib(x.bytes)).join(", ") : ""));
  }
  function move(i) {
    const f = shown;
    at = Math.min(Math.max(i, 0), f.points.length - 1);
    const event = f.points[at][0], x = f.x(event), r = f.r;
    const line = box.querySelector(".cursor");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    box.setAttribute("aria-valuemax", f.points.length - 1);
    box.setAttribute("aria-valuenow", at);
    if (event === f.t.peak_event) { describe(r.peak_at.op, r.at_peak); return; }
    describe("", []);
    page.later("moment", "moment", [event], (answer) => {
      if (shown === f && f.points[at][0] === event && answer.value) describe(answer.value.op, answer.value.tensors);
    });
  }
  function nearest(clientX) {
    const f = shown, rect = box.firstChild.getBoundingClientRect(), x = clientX - rect.left;
    let best = 0;
    f.points.forEach((p, i) => { if (Math.abs(f.x(p[0]) - x) < Math.abs(f.x(f.points[best][0]) - x)) best = i; });
    return best;
  }
  box.addEventListener("pointermove", (e) => { if (shown) move(nearest(e.clientX)); });
  box.addEventListener("pointerdown", (e) => { if (shown) move(nearest(e.clientX)); });
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20, Home: -1e6, End: 1e6 };
  box.addEventListener("keydown", (e) => {
    if (!shown || !(e.key in steps)) return;
    e.preventDefault();
    move(at + steps[e.key]);
  });
  // The width is told, not asked for: asking would lay the page out once more for each key.
  let known = null;
  new ResizeObserver((entries) => {
    room = entries[0].contentRect.width;
    if (shown && known && Math.abs(room - shown.width) > 2) draw(known, shown.r);
  }).observe(box);

  // A long run is thinned beside the page, so that typing does not wait for it, where the machine is slow: the walk over a run
  // takes about as long as its estimate took.
  const LONG = 20000, AT_ONCE = 12;
  function step(r) {
    box.closest("section").hidden = Boolean(r.server);
    if (r.server) return;
    const use = (answer) => {
      box.closest("section").classList.toggle("late", false);
      if (answer.code !== 0 || !page.stands(r)) return;
      known = answer.value;
      draw(known, r);
    };
    if (r.events < LONG || page.took < AT_ONCE) { use(page.core.ask("timeline")); return; }
    box.closest("section").classList.toggle("late", true);
    page.later("timeline", "ask", ["timeline"], use);
  }

  // ---- several GPUs: a bar for each, the card's line through all of them, and the numbers in a table ----------------
  const MOST = 8;
  // Of all reports, so that a letter is the same part in each bar.
  function kinds(reports) {
    return Array.from(new Set(reports.flatMap((r) => page.parts(r).map((part) => part[0]))));
  }
  function limit(room, top, text) {
    const e = el("span", { class: room < 0.5 * top ? "limit early" : "limit" }, text ? [el("b", {}, [text])] : []);
    e.style.insetInlineStart = (100 * room / top).toFixed(3) + "%";
    return e;
  }
  function rankBar(r, scale, lettered) {
    const bar = el("span", { class: lettered ? "mini lettered" : "mini", "aria-hidden": "true" }, page.parts(r).map((part) => {
      const name = words.parts[part[0]] + ": " + gib(part[1]), letter = page.letter(scale.kinds.indexOf(part[0]));
      const e = el("span", { class: "seg", title: name }, [el("i", { class: part[0] }, [])].concat(lettered ? [el("b", {}, [letter])] : []));
      e.style.inlineSize = (100 * part[1] / scale.top).toFixed(3) + "%";
      return e;
    }));
    if (r.gpu) bar.append(limit(r.gpu.left_bytes, scale.top, ""));
    return bar;
  }
  function rank(r, name, scale, lettered) {
    const how = page.standing(r), sign = how === "needs" ? [] : [el("b", { class: { fits: "good", tight: "" }[how] ?? "bad-mark", title: words.badges[how] },
      [el("span", { "aria-hidden": "true" }, [page.signs[how] + " "]), el("span", { class: "vh" }, [words.badges[how] + " "])])];
    return el("li", {}, [el("span", {}, [name]), rankBar(r, scale, lettered), el("span", { class: "right" }, sign.concat(gib(r.process_bytes)))]);
  }
  function rankTable(reports, names, all) {
    const bytes = (r, key) => (page.parts(r).find((part) => part[0] === key) || ["", 0])[1];
    const row = (head, of, last) => el("tr", last ? { class: "peak" } : {}, [el("th", { scope: "row" }, head)].concat(reports.map((r) => el("td", { class: "right" }, [page.mib(of(r))]))));
    out("rank-names").replaceChildren(out("rank-names").firstElementChild, ...names.map((name) => el("th", { scope: "col", class: "right" }, [name])));
    put("rank-rows", all.map((key, i) => row([el("b", { class: "letter" }, [page.letter(i)]), el("span", { class: "swatch " + key }), words.parts[key]], (r) => bytes(r, key)))
      .concat([row([words.process], (r) => r.process_bytes, true)], reports[0].gpu ? [row([words.card], (r) => r.gpu.left_bytes)] : []));
  }
  function ranks(r) {
    const c = r.config, groups = Number(c.tensor_parallel) * Number(c.pipeline_parallel), n = Math.max(Number(c.n_gpu), groups);
    out("ranks").closest("section").hidden = n < 2 || Boolean(r.server);
    if (n < 2 || r.server) return;
    const stages = Number(c.pipeline_parallel) > 1 ? ["first", "last"] : [""];
    const reports = stages.map((stage) => (stage ? page.core.estimate(page.flat() + "pipeline_stage = " + stage + "\n").value : r)).filter((x) => !x.error);
    const scale = { kinds: kinds(reports), top: 1.02 * Math.max.apply(null, reports.map((x) => Math.max(x.process_bytes, x.gpu ? x.gpu.left_bytes : 0))) };
    const drawn = Math.min(n, MOST), gpu = (i) => "GPU\u00a0" + whole.format(i), stage = (i) => fill(told("stage"), { n: i ? whole.format(c.pipeline_parallel) : whole.format(1) });
    const rows = stages[0] ? reports.map((x, i) => rank(x, stage(i), scale, true)) : Array.from({ length: drawn }, (x, i) => rank(r, gpu(i + 1), scale, i === drawn - 1));
    const head = r.gpu ? [el("li", { class: "scale", "aria-hidden": "true" }, [el("span"), el("span", { class: "mini" }, [limit(r.gpu.left_bytes, scale.top, words.card + " " + gib(r.gpu.left_bytes))])])] : [];
    put("ranks", head.concat(rows, !stages[0] && n > MOST ? [el("li", { class: "alike" }, [fill(told("alike"), { n: whole.format(n - MOST) })])] : []));
    rankTable(reports, stages[0] ? reports.map((x, i) => stage(i)) : [gpu(1) + "\u2013" + whole.format(n)], scale.kinds);
  }

  // ---- taking the picture and the events along --------------------------------------------------------------------
  function save(name, blob) {
    const link = el("a", { download: name, href: URL.createObjectURL(blob) }, []);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    page.saved = { name, size: blob.size };
  }
  // The picture with all that the stylesheet gives it as attributes, its title and what its colours mean, so that it stands alone.
  const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "font-size", "font-family", "font-weight", "opacity", "direction"];
  const MARGIN = 34, LEGEND = 20;
  function looks(from, to) {
    const style = getComputedStyle(from);
    LOOKS.forEach((name) => to.setAttribute(name, style.getPropertyValue(name)));
    to.removeAttribute("class");
    return to;
  }
  // Words in the page's direction: they begin at x.
  function labelAt(label, x, y, words) {
    const t = looks(label, text(x, y, "start", words));
    t.setAttribute("direction", rtl ? "rtl" : "ltr");
    return t;
  }
  // Names of the parts from the bottom up, beside each other as far as there is room; right to left in such a language.
  function legend(f, label) {
    const paths = Array.from(box.querySelectorAll("path.cat"));
    let x = 0, y = f.height + LEGEND, items = [];
    paths.forEach((path) => {
      const name = words.parts[path.getAttribute("class").slice(4)] || path.getAttribute("class").slice(4), need = 26 + wide(name);
      if (x && x + need > f.width) { x = 0; y += LEGEND; }
      const at = rtl ? f.width - x : x, square = svg("rect", { x: rtl ? at - 12 : at, y: y - 10, width: 12, height: 12, fill: getComputedStyle(path).fill });
      items.push(square, labelAt(label, rtl ? at - 17 : at + 17, y, name));
      x += need + 12;
    });
    return { items, height: y + 12 };
  }
  function alone() {
    const from = box.firstChild, copy = from.cloneNode(true), all = copy.querySelectorAll("*"), f = shown, label = from.querySelector("text");
    from.querySelectorAll("*").forEach((e, i) => looks(e, all[i]));
    Array.from(copy.querySelectorAll("line")).pop().remove();
    copy.removeAttribute("aria-hidden");
    const { items, height } = legend(f, label), end = height + MARGIN;
    const title = labelAt(label, rtl ? f.width : 0, -MARGIN / 2, box.closest("section").querySelector("h2").textContent);
    title.setAttribute("font-weight", "600");
    copy.append(title, ...items);
    Object.entries({ xmlns: "http://www.w3.org/2000/svg", "xml:lang": document.documentElement.lang, role: "img", viewBox: "-8 " + -MARGIN + " " + (f.width + 16) + " " + end, width: f.width + 16, height: end })
      .forEach((entry) => copy.setAttribute(entry[0], entry[1]));
    copy.prepend(svg("rect", { x: -8, y: -MARGIN, width: f.width + 16, height: end, fill: getComputedStyle(document.body).backgroundColor }));
    return { text: new XMLSerializer().serializeToString(copy), width: f.width + 16, height: end };
  }
  function png() {
    const image = new Image(), scale = 2, f = alone();
    image.onload = () => {
      const canvas = el("canvas", { width: f.width * scale, height: f.height * scale }, []);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save("step.png", blob));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(f.text);
  }
  const FILES = { csv: ["step.csv", "text/csv", "csv"], viz: ["step.pickle", "application/octet-stream", "viz"], perfetto: ["step.json", "application/json", "perfetto"] };
  document.getElementById("calc").addEventListener("click", (e) => {
    const what = e.target.getAttribute("data-save");
    if (!what || !shown) return;
    if (what === "svg") save("step.svg", new Blob([alone().text], { type: "image/svg+xml" }));
    else if (what === "png") png();
    else page.later("write", "write", ["trace", FILES[what][2]], (answer) => {
      if (answer.code === 0) save(FILES[what][0], new Blob([answer.bytes], { type: FILES[what][1] }));
    });
  });

  page.after.push(step, ranks);
  page.stepShown = () => shown;
})();
