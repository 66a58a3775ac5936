// A static server for the tests: files of one folder, with the headers that its _headers file asks for.
import { createServer } from "node:http";
import { readFile, stat } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const types = {
  ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
  ".json": "application/json", ".xml": "application/xml", ".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml", ".png": "image/png", ".wasm": "application/wasm",
};

// [{path: "/*", headers: [[name, value], ...]}, ...] of a _headers file.
export function parseHeaders(text) {
  const rules = [];
  for (const line of text.split("\n")) {
    if (!line.trim() || line.startsWith("#")) continue;
    if (!/^\s/.test(line)) rules.push({ path: line.trim(), headers: [] });
    else {
      const colon = line.indexOf(":");
      rules.at(-1).headers.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
    }
  }
  return rules;
}

function matches(rule, path) {
  return rule.endsWith("*") ? path.startsWith(rule.slice(0, -1)) : rule === path;
}

// Serves root on a free port of the loopback device, also below base: a 404 page's addresses begin with base_url's path.
// Answers {origin, rules, close}.
export async function serve(root, base = "") {
  const rules = parseHeaders(await readFile(join(root, "_headers"), "utf8"));
  const server = createServer(async (request, response) => {
    let path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    if (base && path.startsWith(`${base}/`)) path = path.slice(base.length);
    for (const rule of rules)
      if (matches(rule.path, path)) for (const [name, value] of rule.headers) response.setHeader(name, value);
    let file = join(root, normalize(path));
    try {
      if ((await stat(file)).isDirectory()) file = join(file, "index.html");
      const bytes = await readFile(file);
      response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
      response.end(bytes);
    } catch {
      response.statusCode = 404;
      response.end("not found");
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { origin: `http://127.0.0.1:${server.address().port}`, rules, close: () => server.close() };
}
