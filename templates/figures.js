// What numbers and charts say when they are asked, loaded at the first click, focus or touch: the note beside a number with its
// kind, source and command, the slider below a chart of lines, and what a chart over a step has under the pointer or the arrow keys.
(function () {
  "use strict";
  var sources = document.querySelector(".sources"), words = sources ? sources.dataset : {}, root = document.documentElement;

  // --- The note beside a number.
  var note = document.createElement("aside"), from = null;
  note.className = "source-note";
  note.tabIndex = -1;
  note.hidden = true;
  document.body.append(note);

  function element(name, children, properties) {
    var e = document.createElement(name);
    e.append.apply(e, children);
    return Object.assign(e, properties);
  }
  // "vramcalc estimate a=1 b='x y'": what the calculator takes as its state.
  function state(command) {
    var out = new URLSearchParams(), found = /^vramcalc (?:estimate|advise|fit|compare|max-batch)(?= )/.test(command);
    command.replace(/([a-z0-9_]+)=(?:'([^']*)'|(\S+))/g, function (all, key, quoted, plain) { out.set(key, quoted || plain); });
    return found && words.calculator ? words.calculator + "#" + out : "";
  }
  function fill(row, link) {
    var cells = row.children, source = cells[2].cloneNode(true), command = source.querySelector(".command");
    var about = Array.from(sources.querySelectorAll(".kinds li")).find(function (li) { return li.firstElementChild.classList.contains(link.classList[1]); });
    var lines = [element("p", about ? Array.from(about.cloneNode(true).childNodes) : [cells[1].textContent])];
    if (command) lines.push(element("p", [words.command], { className: "label" }));
    lines.push(element("p", Array.from(source.childNodes)));
    var ways = element("p", [], { className: "ways" }), calculator = command ? state(command.textContent) : "";
    if (command) ways.append(element("button", [document.body.dataset.copy], { type: "button", onclick: function () { window.vramdocCopy(command.textContent, this); } }));
    if (calculator) ways.append(" ", element("a", [words.calculate], { href: calculator }));
    ways.append(" ", element("a", [words.all], { href: link.getAttribute("href"), onclick: function () { close(false); } }));
    note.replaceChildren.apply(note, lines.concat(ways));
    note.setAttribute("aria-label", link.textContent + ": " + cells[1].textContent);
  }
  // In the margin where there is one, else below the number; never beyond the edge.
  function place(link) {
    var at = link.getBoundingClientRect(), wide = note.offsetWidth, page = root.clientWidth, rtl = getComputedStyle(link).direction === "rtl";
    var text = link.closest(".body"), box = text && text.getBoundingClientRect(), free = box ? (rtl ? box.left : page - box.right) : 0;
    var margin = free > wide + 8 && page >= 1280;
    var left = margin ? (rtl ? box.left - wide - 8 : box.right + 8) : Math.max(8, Math.min(rtl ? at.right - wide : at.left, page - wide - 8));
    note.style.left = left + scrollX + "px";
    note.style.top = (margin ? at.top - 6 : at.bottom + 6) + scrollY + "px";
  }
  function show(link) {
    var id = link.getAttribute("href").slice(1), target = document.getElementById(id), row = target && target.closest("tr");
    if (!row || !sources) return false;
    from = link;
    fill(row, link);
    note.hidden = false;
    place(link);
    return true;
  }
  function close(back) {
    if (note.hidden) return;
    note.hidden = true;
    if (back && from) from.focus({ preventScroll: true });
    from = null;
  }
  function number(e) { return e.target.closest ? e.target.closest(".body a.fig[href^='#source']") : null; }
  function onClick(e) {
    var link = number(e);
    if (link && !e.ctrlKey && !e.metaKey) {
      if (!show(link)) return;
      e.preventDefault();
      note.focus({ preventScroll: true });
    } else if (!note.contains(e.target)) close(false);
  }
  var closed = null;   // the number that Escape gave the focus back to shows its note no more
  function onFocus(e) {
    var link = number(e);
    if (link && link !== closed && link.matches(":focus-visible")) show(link);
    else if (!note.contains(e.target) && !link) close(false);
    closed = null;
  }
  document.addEventListener("click", onClick);
  document.addEventListener("focusin", onFocus);
  document.addEventListener("keydown", function (e) {
    if (note.hidden) return;
    var stops = Array.from(note.querySelectorAll("a, button")), last = document.activeElement === stops[stops.length - 1];
    if (e.key !== "Escape" && !(e.key === "Tab" && note.contains(document.activeElement) && last && !e.shiftKey)) return;
    e.preventDefault();
    closed = from;
    close(true);
  });
  addEventListener("resize", function () { close(false); });

  // --- The slider below a chart of lines: what the table says of that row, whether it fits, and a line in the drawing.
  var plain = new Intl.NumberFormat(root.lang + (root.dataset.digits ? "-u-nu-" + root.dataset.digits : ""), { maximumFractionDigits: 0 });
  function bytes(cell, value) { return cell.textContent.replace(/[\p{Nd}.,'\u2019\u00a0\u202f]*\p{Nd}/u, plain.format(value / 1048576)); }
  function say(pattern, values) { return pattern.replace(/\{(\w+)\}/g, function (all, name) { return values[name]; }); }
  function vertical(svg, x) {
    var line = svg.querySelector(".cursor");
    if (!line) { line = document.createElementNS(svg.namespaceURI, "path"); line.setAttribute("class", "cursor"); svg.append(line); }
    line.setAttribute("d", "M" + x + " 16V206");
  }
  function slide(input) {
    var box = input.closest(".slider"), chart = box.closest(".chart"), head = chart.querySelectorAll("thead th, thead td");
    var row = chart.querySelectorAll("tbody tr")[+input.value], limit = +box.dataset.limit, name = row.firstElementChild.textContent;
    var lines = Array.from(row.querySelectorAll("td")).map(function (cell, i) {
      var value = +(cell.querySelector("data") || { value: NaN }).value;
      if (!value) return "";
      var fits = value <= limit, text = say(fits ? box.dataset.fits : box.dataset.not, {
        process: cell.textContent.trim(), card: bytes(cell, limit), margin: bytes(cell, Math.abs(limit - value)) });
      return (fits ? "\u2713 " : "\u2717 ") + head[i + 1].textContent + ": " + text;
    });
    box.querySelector("p").textContent = [head[0].textContent + " = " + name].concat(lines.filter(Boolean)).join("\n");
    var mark = chart.querySelectorAll("svg .mark")[+input.value];   // the first line's marks are in order of the rows
    if (mark) vertical(chart.querySelector("svg"), +mark.getAttribute("x") + 3);
  }
  document.addEventListener("input", function (e) { if (e.target.closest(".slider")) slide(e.target); });

  // --- The step: what is alive at the moment under the pointer, or at the one that the arrow keys have reached.
  function read(svg) {
    var data = svg.querySelector(".live").dataset, count = +data.moments, operations = [];
    data.operations.split("|").forEach(function (run) {
      var at = run.lastIndexOf("*");
      for (var k = 0; k < +run.slice(at + 1); k++) operations.push(run.slice(0, at));
    });
    var areas = Array.from(svg.querySelectorAll(".part")).reverse().map(function (path) {
      return Array.from(path.getAttribute("d").matchAll(/L([\d.]+) ([\d.]+)/g), function (m) { return [+m[1], (206 - m[2]) / 190 * data.max]; });
    });
    return { count: count, operations: operations, areas: areas, at: 0 };
  }
  function height(points, x) {
    var found = 0;
    for (var i = 0; i < points.length && points[i][0] <= x + 0.06; i++) found = points[i][1];
    return found;
  }
  var steps = new WeakMap();
  function moment(svg, at) {
    var step = steps.get(svg), chart = svg.closest(".chart"), text = chart.querySelector(".moment"), below = 0;
    step.at = Math.max(0, Math.min(step.count - 1, at));
    var x = 52 + step.at / (step.count - 1) * 300, rows = chart.querySelectorAll("tbody tr"), parts = step.areas.map(function (points, i) {
      var top = height(points, x), own = top - below;
      below = top;
      return [own, rows[i].firstElementChild.textContent.trim(), rows[i].querySelector("td")];
    });
    vertical(svg, x);
    parts.sort(function (a, b) { return b[0] - a[0]; });
    text.textContent = step.operations[step.at] + ": " + bytes(parts[0][2], below) + " = " + parts.filter(function (p) { return p[0] > below / 200; })
      .slice(0, 5).map(function (p) { return p[1] + " " + bytes(p[2], p[0]); }).join(" + ");
  }
  function wake(svg) {
    if (steps.has(svg)) return;
    steps.set(svg, read(svg));
    var text = element("p", [], { className: "moment" });
    text.setAttribute("role", "status");
    svg.after(text);
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("pointermove", function (e) {
      var box = svg.getBoundingClientRect(), x = (e.clientX - box.left) / box.width * 360;
      moment(svg, Math.round((x - 52) / 300 * (steps.get(svg).count - 1)));
    });
    svg.addEventListener("keydown", function (e) {
      var step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
      if (!step) return;
      e.preventDefault();
      moment(svg, steps.get(svg).at + step);
    });
  }
  document.querySelectorAll(".chart.area svg").forEach(wake);
  document.querySelectorAll(".slider input").forEach(slide);

  // The event that loaded this script is the first one.
  window.vramdocFigures = function (e) {
    if (e.type === "click") onClick({ target: e.target, preventDefault: function () { } });
    else if (e.type === "focusin") onFocus(e);
  };
})();
