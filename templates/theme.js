// Runs before the first paint: the theme that the reader chose, and the controls that need a script.
(function (root) {
  root.classList.add("js");
  try {
    var theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.setAttribute("data-theme", theme);
  } catch (e) { /* no storage: the system's theme */ }
})(document.documentElement);
