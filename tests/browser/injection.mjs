// Scripts that Markdown of strangers would like to run: each of injection.txt, in a tree of each kind, in a browser that is told to
// ignore the pages' policy, with every element clicked, pointed at and focused. The policy is a second wall and not tested here.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, close, equal, open, that } from "./harness.mjs";

// What makes a folder a tree of a kind, and where its pages lie.
const kinds = {
  plain: [], jekyll: [["_config.yml", "title: T\n"]], hugo: [["hugo.toml", "title = 'T'\n"], "content"],
  mkdocs: [["mkdocs.yml", "site_name: T\nmarkdown_extensions: [pymdownx.arithmatex, {pymdownx.snippets: {base_path: [docs]}}, pymdownx.emoji]\n"], "docs"],
  docusaurus: [["docusaurus.config.js", "export default { title: 'T', x: ['remark-math'] }\n"], "docs"],
  vitepress: [[".vitepress/config.js", "export default { title: 'T' }\n"]],
  starlight: [["astro.config.mjs", "import starlight from '@astrojs/starlight'\n"], "src/content/docs"],
  mdbook: [["book.toml", "[book]\ntitle = 'T'\n"], "src"],
};

const vectors = readFileSync(new URL("injection.txt", import.meta.url), "utf8").split("\n~\n");

function write(root, name, text) {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// One page a vector, whose title, description and neighbours' titles are attacks too.
function plant(root, kind) {
  const [mark, folder = "."] = kinds[kind];
  const ending = kind === "starlight" || kind === "docusaurus" ? "mdx" : "md";
  if (mark) write(root, mark[0], mark[1]);
  if (kind === "mdbook")
    write(root, "src/SUMMARY.md", vectors.map((_, i) => `- [<img src=x onerror=hit()> ${i}](p${i}.md)\n`).join(""));
  vectors.forEach((vector, i) => write(root, join(folder, `p${i}.${ending}`),
    `---\ntitle: '"><img src=x onerror=hit()> ${i}'\ndescription: '"><script>hit()</script>'\nauthor: '<script>hit()</script>'\n---\n\n${vector}\n\nEnd.\n`));
}

// In the page: elements and attributes that no page of ours has, then every event that one may listen for.
function provoke() {
  const wrong = [];
  for (const e of document.querySelectorAll("main *, nav *")) {
    if (e.matches("button[type=button]") && e.attributes.length === 1) continue;   // site.js's, to copy code
    if (/^(script|iframe|object|embed|form|button|input|base|meta|link|style|template|noscript)$/i.test(e.localName)) wrong.push(e.outerHTML.slice(0, 80));
    for (const a of e.attributes) {
      const value = a.value.replace(/[\u0000-\u0020]/g, "");
      if (/^on/i.test(a.name) || /^style$/i.test(a.name) || /^(javascript|vbscript|data):/i.test(value)) wrong.push(`${e.localName} ${a.name}=${a.value}`.slice(0, 80));
    }
    for (const type of ["click", "mouseover", "focus", "toggle", "error", "load"]) {
      const event = new Event(type, { bubbles: true, cancelable: true });
      document.addEventListener(type, (x) => x.preventDefault(), { once: true });
      e.dispatchEvent(event);
    }
  }
  return wrong;
}

const before = "window.hits = []; window.hit = () => window.hits.push(location.href)";

export function run(browser) {
  check("injection: what is let through is seen", async () => {
    const path = join(process.env.BROWSER_MODULES, "injection", "bare.html");
    write(dirname(path), "bare.html", `<main>${vectors[0]}<p onfocus="hit()">t</p><script>hit()</script></main>`);
    const tab = await open(browser, "about:blank", { bypassCSP: true, before });
    try {
      await tab.goto(pathToFileURL(path).href, { waitUntil: "load" });
      equal((await tab.evaluate(provoke)).length, 3, "elements and attributes");
      that((await tab.evaluate("window.hits")).length >= 3, "scripts that ran");
    } finally { await close(tab); }
  });
  for (const kind of Object.keys(kinds))
    check(`injection ${kind}`, async () => {
      const root = join(process.env.BROWSER_MODULES, "injection", kind), out = `${root}-site`;
      rmSync(root, { recursive: true, force: true });
      plant(root, kind);
      const built = spawnSync(join(process.env.BROWSER_MODULES, "..", "vramdoc"), ["build", "-q", "-f", "-k", kind, "-s", root, "-o", out], { encoding: "utf8" });
      equal(built.status, 0, built.stderr.slice(0, 400));
      const pages = spawnSync("find", [out, "-name", "p*.html", "-o", "-name", "index.html"], { encoding: "utf8" }).stdout.trim().split("\n");
      that(pages.length >= vectors.length, `${pages.length} pages of ${vectors.length}`);
      const tab = await open(browser, "about:blank", { bypassCSP: true, before });
      try {
        tab.on("dialog", (dialog) => dialog.dismiss());
        for (const path of pages) {
          tab.requested.length = 0;
          await tab.goto(pathToFileURL(path).href, { waitUntil: "load" });
          const name = path.slice(out.length + 1), wrong = await tab.evaluate(provoke);
          equal(wrong.join("; "), "", `${kind} ${name}`);
          equal((await tab.evaluate("window.hits")).length, 0, `${kind} ${name}: a script ran`);
          equal(tab.requested.filter((url) => /attacker/.test(url)).join(" "), "", `${kind} ${name}: a request`);
        }
      } finally { await close(tab); }
    });
}
