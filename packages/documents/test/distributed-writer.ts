// Writes to the distributed store of the URL in argv[2] until it is killed; its notes begin with
// argv[3].
import { writeSync } from "node:fs";
import { defineCollection, openStore } from "../src/index.ts";

const [, , url = "", prefix = ""] = process.argv;
const seats = defineCollection<{ row?: unknown; seat?: unknown; note: string }>("seats", {
  unique: [["row", "seat"], "note"],
  softDelete: true,
  changes: "ids",
});
const store = await openStore(url, { postgres: { distributed: true }, collections: [seats] });
const collection = store.collection(seats);

async function write(writer: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const { id } = await collection.insert({ note: `${prefix}.${writer}.${turn}` });
    writeSync(1, `${id}\n`);
    await collection.update(id, { note: `${prefix}.${writer}.${turn}.changed` });
    if (turn % 2 === 1) await collection.remove(id);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
