// The theme switch and the search. Everything else on a page works without a script.
(function (root) {
  "use strict";
  var $ = document.querySelector.bind(document);

  // The table of contents stands open beside the text where there is room for it.
  var toc = $(".toc details");
  if (toc && matchMedia("(min-width: 68rem)").matches) toc.open = true;

  // A page with a tool of its own names its script.
  var tool = $("[data-script]");
  if (tool) {
    var script = document.createElement("script");
    script.src = tool.getAttribute("data-script");
    document.head.append(script);
  }

  // Only one menu at a time; Escape closes it and gives the focus back.
  var langs = $(".langs");
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape" && langs && langs.open) { langs.open = false; langs.firstElementChild.focus(); }
  });
  // Another language is shown at the same place: ids and states are the same there.
  if (langs) langs.addEventListener("click", function (e) {
    if (!e.target.href) return;
    e.target.href = e.target.href.split("#")[0] + location.hash;
    langs.open = false;
  });
  document.addEventListener("click", function (e) {
    if (langs && langs.open && !langs.contains(e.target)) langs.open = false;
    if (form && !form.contains(e.target)) panel.hidden = true;
  });

  var select = $("#theme");
  if (select) {
    select.value = root.getAttribute("data-theme") || "auto";
    select.addEventListener("change", function () {
      var theme = select.value;
      if (theme === "auto") root.removeAttribute("data-theme");
      else root.setAttribute("data-theme", theme);
      try { localStorage.setItem("theme", theme); } catch (e) { /* for this page only */ }
    });
  }

  // Search: the index is a script of its own, loaded when the box is first used.
  var form = $("form.search");
  if (!form) return;
  var box = $("#q"), panel = form.querySelector(".results");
  var list = panel.querySelector("ol"), status = panel.querySelector("p");
  var asked = false;

  // Words as the index has them: lower case, no accents, and where a script has no spaces, as its language divides them.
  var divide = window.Intl && Intl.Segmenter && /^(zh|ja|th|lo|km|my)/.test(root.lang) && new Intl.Segmenter(root.lang, { granularity: "word" });
  function fold(text) {
    return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  }
  function words(text) {
    if (divide) text = Array.from(divide.segment(text), function (part) { return part.segment; }).join(" ");
    return fold(text).match(/[\p{L}\p{N}\p{M}]{2,}|[^\x00-\x7f\P{L}]/gu) || [];
  }
  // Points for each document that has every word of the query, the last one as a beginning too.
  function find(index, query) {
    var terms = index.terms, total = null;
    query.forEach(function (word, i) {
      var last = i === query.length - 1, points = new Map();
      Object.keys(terms).forEach(function (term) {
        var whole = fold(term) === word;
        if (!whole && !(last && fold(term).startsWith(word))) return;
        terms[term].forEach(function (doc) { points.set(doc, Math.max(points.get(doc) || 0, whole ? 2 : 1)); });
      });
      index.docs.forEach(function (doc, n) {
        if (words(doc[1]).some(function (w) { return w.startsWith(word); })) points.set(n, (points.get(n) || 0) + 5);
      });
      if (!total) total = points;
      else total.forEach(function (value, doc) {
        if (points.has(doc)) total.set(doc, value + points.get(doc)); else total.delete(doc);
      });
    });
    return Array.from(total || []).sort(function (a, b) { return b[1] - a[1] || a[0] - b[0]; });
  }
  function show() {
    var query = words(box.value);
    panel.hidden = !query.length;
    list.textContent = "";
    if (!query.length || !window.vramdocIndex) return;
    var index = window.vramdocIndex, found = find(index, query);
    status.textContent = found.length ? form.dataset.found + " " + found.length : form.dataset.none;
    found.slice(0, 8).forEach(function (hit) {
      var doc = index.docs[hit[0]], item = document.createElement("li"), link = document.createElement("a");
      link.href = form.dataset.root + doc[0];
      link.textContent = doc[1];
      item.append(link);
      if (doc[2]) { var p = document.createElement("p"); p.textContent = /[.!?।。؟]$/.test(doc[2]) ? doc[2] : doc[2].replace(/\s\S*$/, " …"); item.append(p); }
      list.append(item);
    });
  }
  function load() {
    if (asked) return;
    asked = true;
    var index = document.createElement("script");
    index.src = form.dataset.index;
    index.onload = show;
    document.head.append(index);
  }
  box.addEventListener("focus", load);
  box.addEventListener("input", function () { load(); show(); });
  form.addEventListener("submit", function (e) {
    e.preventDefault();
    var first = list.querySelector("a");
    if (first) first.click();
  });
  form.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { panel.hidden = true; box.focus(); return; }
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    var links = [box].concat(Array.from(list.querySelectorAll("a")));
    var to = links[links.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1)];
    if (to) { e.preventDefault(); to.focus(); }
  });
})(document.documentElement);
