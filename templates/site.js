// The theme switch, menus, copying, the contents' current section, and what loads the search and the notes of figures. Everything else on a page works without a script.
(function (root) {
  "use strict";
  var $ = document.querySelector.bind(document);

  // The table of contents stands open beside the text where there is room for it.
  var toc = $(".toc details");
  if (toc && matchMedia("(min-width: 1280px)").matches) toc.open = true;
  var side = $(".side details");
  if (side && matchMedia("(min-width: 60rem)").matches) {
    side.open = true;
    // A long tree scrolls to this page's place in it.
    var here = side.querySelector("[aria-current]"), tree = side.parentNode;
    if (here) tree.scrollTop = here.offsetTop - tree.clientHeight / 2;
  }

  function script(src) {
    var e = document.createElement("script");
    e.src = src;
    document.head.append(e);
    return e;
  }
  // A page with a tool of its own names its script.
  var tool = $("[data-script]");
  if (tool) script(tool.getAttribute("data-script"));

  // The section that is read is marked in the contents: the last heading in the upper third of the window or above it.
  var entries = Array.from(document.querySelectorAll(".toc a")).map(function (a) { return [a, document.getElementById(decodeURIComponent(a.hash.slice(1)))]; });
  function mark() {
    var now = null;
    entries.forEach(function (e) { if (e[1] && e[1].getBoundingClientRect().top < innerHeight / 3) now = e[0]; });
    entries.forEach(function (e) { if (e[0] === now) e[0].setAttribute("aria-current", "true"); else e[0].removeAttribute("aria-current"); });
  }
  if (entries.length) {
    var watch = new IntersectionObserver(mark, { rootMargin: "0px 0px -66% 0px" });
    entries.forEach(function (e) { if (e[1]) watch.observe(e[1]); });
  }

  // Code has its language and a button to copy it. Without navigator.clipboard (plain http) the text is selected and copied.
  var body = document.body.dataset;
  window.vramdocCopy = function (text, button) {
    function done() {
      button.textContent = body.copied;
      setTimeout(function () { button.textContent = body.copy; }, 2000);
    }
    function select() {
      var area = document.createElement("textarea");
      area.value = text;
      area.className = "vh";
      document.body.append(area);
      area.select();
      var ok = document.execCommand("copy");
      area.remove();
      button.focus();
      if (ok) done();
    }
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select);
    else select();
  };
  document.querySelectorAll(".body pre > code").forEach(function (code) {
    var pre = code.parentNode, box = document.createElement("div"), bar = document.createElement("div"), button = document.createElement("button");
    box.className = "code";
    bar.className = "code-bar";
    button.type = "button";
    button.textContent = body.copy;
    button.addEventListener("click", function () { window.vramdocCopy(code.textContent, button); });
    var language = document.createElement("span");
    language.textContent = (/language-(\S+)/.exec(code.className) || ["", ""])[1];
    bar.append(language, button);
    pre.replaceWith(box);
    box.append(pre, bar);
  });

  // On a phone, a table that is wider than it and has sentences, lines of code or few columns is a card a row, in which each cell says its
  // column's name; a matrix of numbers stays a table. Browsers keep a table's roles only where they are said.
  function isWide(box) {
    var cells = Array.from(box.querySelectorAll("tbody tr > :not(:first-child)")), over = box.scrollWidth - box.clientWidth;
    return over > 0 && box.querySelector("thead") && (over > 60 && box.querySelectorAll("thead tr:last-child > *").length < 6 || cells.some(function (e) { return e.textContent.length > 20; }));
  }
  function cards(box) {
    var heads = Array.from(box.querySelectorAll("thead tr:last-child > *"), function (e) { return e.textContent.trim(); });
    var roles = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
    box.classList.add("cards");
    box.querySelectorAll("table, thead, tbody, tr, td, th").forEach(function (e) {
      e.setAttribute("role", roles[e.tagName] || (e.closest("thead") ? "columnheader" : "rowheader"));
      if (e.cellIndex && heads[e.cellIndex]) e.dataset.label = heads[e.cellIndex];
    });
  }
  function fold(within) { Array.from(within.querySelectorAll(".table:not(.cards)")).filter(isWide).forEach(cards); }
  if (matchMedia("(max-width: 30rem)").matches) {
    document.querySelectorAll("article > .body").forEach(fold);
    document.querySelectorAll("article > :is(.body, .sources) details").forEach(function (e) { e.addEventListener("toggle", function () { fold(e); }); });
  }

  // The table of sources opens for what leads into it.
  var sources = $(".sources");
  function open() {
    var at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var up = at; up; up = up.parentElement) if (up.tagName === "DETAILS" && !up.open) { up.open = true; at.scrollIntoView(); }
  }
  addEventListener("hashchange", open);
  open();
  // Notes of numbers and live charts are a script of their own, loaded when one is first used.
  var asks = ["click", "focusin", "pointerover", "input"], engine = null, last = null;
  function ask(e) {
    var at = e.target.closest && e.target.closest(".body a.fig, .chart.area, .slider"), link = at && e.target.closest("a.fig"), click = link && e.type === "click";
    if (!at || !sources.dataset.engine || e.ctrlKey || e.metaKey) return;
    if (click) e.preventDefault();
    if (click || !last || last.type !== "click") last = e;
    if (engine) return;
    engine = script(sources.dataset.engine);
    engine.onload = engine.onerror = function () {
      asks.forEach(function (type) { document.removeEventListener(type, ask); });
      if (window.vramdocFigures) window.vramdocFigures(last);
      else if (last.type === "click") location.hash = last.target.closest("a").hash;
    };
  }
  if (sources) asks.forEach(function (type) { document.addEventListener(type, ask); });

  // The box of the start page opens the calculator with what was pasted.
  var paste = $("form.paste");
  if (paste) paste.addEventListener("submit", function (e) {
    e.preventDefault();
    var text = paste.querySelector("textarea").value;
    // An address holds the beginning of a long text; all of it waits in the tab.
    try { sessionStorage.setItem("paste", text); } catch (refused) { /* the beginning only */ }
    location.href = paste.dataset.calculator + (text.trim() ? "#paste=" + encodeURIComponent(text.slice(0, 8192).replace(/[\uD800-\uDBFF]$/, "")) : "");
  });

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

  // Search is a script of its own, loaded when the box is first used; "/" goes there.
  var form = $("form.search"), box = $("#q"), asked = false;
  if (!form) return;
  function load() {
    if (asked) return;
    asked = true;
    script(form.dataset.engine);
  }
  box.addEventListener("focus", load);
  if (document.activeElement === box) load();
  document.addEventListener("keydown", function (e) {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    e.preventDefault();
    box.focus();
    box.select();
  });
})(document.documentElement);
