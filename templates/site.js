// The theme switch, menus, and what loads the search. Everything else on a page works without a script.
(function (root) {
  "use strict";
  var $ = document.querySelector.bind(document);

  // The table of contents stands open beside the text where there is room for it.
  var toc = $(".toc details");
  if (toc && matchMedia("(min-width: 68rem)").matches) toc.open = true;
  var side = $(".side details");
  if (side && matchMedia("(min-width: 60rem)").matches) side.open = true;

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
    var engine = document.createElement("script");
    engine.src = form.dataset.engine;
    document.head.append(engine);
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
