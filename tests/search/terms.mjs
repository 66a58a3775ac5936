// Prints the terms of each line of the standard input as templates/search.js has them: for search_terms.sh.
import { readFileSync } from "node:fs";
import { open } from "./find.mjs";

const { terms } = open("", "");
for (const line of readFileSync(0, "utf8").replace(/\n$/, "").split("\n")) console.log(terms(line).join(" "));
