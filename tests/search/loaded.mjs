// What queries load of one language of a site: node loaded.mjs SITE LANGUAGE ENGINE MOST QUERY... fails when a query has not eight hits or
// loads more than so many bytes (brotli).
import { open } from "./find.mjs";

const [site, language, engine, most, ...queries] = process.argv.slice(2);
let good = queries.length > 0;
for (const query of queries) {
  const search = open(site, language, engine), { hits } = await search.find(query, 8), bytes = search.bytes();
  console.log(`"${query}": ${hits.length} hits, ${bytes} bytes in ${search.loaded.length} files`);
  good = good && hits.length === 8 && bytes <= most;
}
process.exit(good ? 0 : 1);
