// The queries of queries.tsv over built sites: node rank.mjs QUERIES SITE=FOLDER... prints each query whose wanted section is not among
// the first three hits, then how many are; with BYTES=1 also what each query loads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open, source } from "./find.mjs";

const [queries, ...sites] = process.argv.slice(2);
const folders = new Map(sites.map((s) => s.split("=")));
const cut = (url) => url.replace(/^[^/]+\//, "").replace(/(^|\/)index\.html$/, "").replace(/\.html$/, "").replace(/\/$/, "");
// As GitHub makes an id of a heading's text.
const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "").trim().replace(/\s/g, "-");
let found = 0, asked = 0, most = 0, first = 0;
const bytes = [];
for (const line of readFileSync(queries, "utf8").split("\n")) {
  const [site, language, query, wanted] = line.split("\t");
  if (!wanted || line.startsWith("#") || !folders.has(site)) continue;
  const search = open(folders.get(site), language, process.env.ENGINE || source);
  const { hits } = await search.find(query, 8);
  const names = hits.map((h) => cut(h.url) + (h.anchor ? "#" + h.anchor : ""));
  const own = hits.map((h) => cut(h.url) + "#" + slug(h.heading));
  const place = names.findIndex((n, i) => wanted.split(" ").some((w) => n === w || own[i] === w.toLowerCase()));
  asked++;
  if (place >= 0 && place < 3) found++;
  else console.log(`${site} ${language} "${query}": ${place < 0 ? "not" : place + 1}, wanted ${wanted}; ${names.slice(0, 4).join(" ")}`);
  if (place === 0) first++;
  bytes.push(search.bytes());
  if (process.env.BYTES) console.log(search.bytes(), search.loaded.length, language, query);
}
bytes.sort((a, b) => a - b);
console.log(`${found} of ${asked} among the first three, ${first} first; bytes: median ${bytes[bytes.length >> 1]}, most ${bytes[bytes.length - 1]}`);
