// Which pages a built site has: path, language, kind and document, as the pages themselves say.
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

// Of the pages of cards, which are alike, the most asked for and the one with the longest name stand for all.
const looked = (path) => !/^[^/]+\/cards\//.test(path) || /\/(index|rtx-4070|rtx-pro-6000-blackwell)\.html$/.test(path);

// All pages but redirects, sorted by path: {path, lang, kind, name}; name is the part that translations share.
export async function pagesOf(root) {
  const pages = [];
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".html")) continue;
    const path = relative(root, join(entry.parentPath ?? entry.path, entry.name));
    if (!looked(path)) continue;
    const html = await readFile(join(root, path), "utf8");
    if (html.includes('http-equiv="refresh"')) continue;
    const lang = html.match(/<html lang="([^"]+)"/)?.[1];
    const kind = html.match(/<body class="([^"]+)"/)?.[1];
    pages.push({ path, lang, kind, name: path.split("/").at(-1) });
  }
  return pages.sort((a, b) => (a.path < b.path ? -1 : 1));
}
