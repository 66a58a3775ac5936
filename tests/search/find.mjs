// Runs templates/search.js over an index outside of a browser: what a page would load, it reads from the site's folder.
import { readFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { runInNewContext } from "node:vm";
import { brotliCompressSync, constants } from "node:zlib";

export const source = join(dirname(new URL(import.meta.url).pathname), "../../templates/search.js");
const packed = new Map();
export function brotli(file) {
  if (!packed.has(file)) packed.set(file, brotliCompressSync(readFileSync(file), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length);
  return packed.get(file);
}

// The search of one language of a site; loaded lists the files that it asked for.
export function open(site, language, engine = source) {
  const index = join(site, language, "search.js"), loaded = [];
  const form = { dataset: { index }, addEventListener() {}, querySelector: () => null, contains: () => false };
  const window = {};
  const context = {
    window, document: {
      querySelector: (name) => (name === "form.search" ? form : null), addEventListener() {},
      createElement: () => ({ remove() {} }),
      head: { append(script) {
        const there = existsSync(script.src);
        if (there) { loaded.push(script.src); runInNewContext(readFileSync(script.src, "utf8"), { vramdocSearch: window.vramdocSearch }); }
        queueMicrotask(() => (there ? script.onload() : script.onerror()));
      } },
    },
  };
  runInNewContext(readFileSync(engine, "utf8"), context);
  return { find: window.vramdocSearch.find, terms: window.vramdocSearch.terms, loaded,
    bytes: () => brotli(engine) + loaded.reduce((sum, file) => sum + brotli(file), 0) };
}
