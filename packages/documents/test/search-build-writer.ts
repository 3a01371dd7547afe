// Opens the store of the URL in argv[2] with another search than the one that was built, and writes
// until it is killed.
import { writeSync } from "node:fs";
import { openStore } from "../src/index.ts";
import { byText, earlyNotes } from "./search-build-collections.ts";

const [, , url = ""] = process.argv;
const store = await openStore(url, { collections: [byText] });
const notes = store.collection(byText);

for (let turn = 0; ; turn += 1) {
  const { id } = await notes.insert({ title: "late", text: "first" });
  await notes.update(id, { text: "second" });
  writeSync(1, `${id}\n`);
  if (turn % 20 === 5) {
    const found = await notes.count({ q: "early" });
    if (found !== earlyNotes) throw new Error(`A search found ${found} notes of ${earlyNotes}`);
  }
}
