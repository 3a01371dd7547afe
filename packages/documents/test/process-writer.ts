// Adds argv[4] documents to the store of argv[2], each with an increment of a shared one.
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";

const [, , path = "", name = "", changes = ""] = process.argv;
const store = await openStore(`sqlite:${path}`, { collections: [counters], busyTimeout: 15_000 });
const collection = store.collection(counters);
await collection
  .insert({ name: "shared", value: 0 }, { id: "shared" })
  .catch((error: unknown) => error);
for (let change = 0; change < Number(changes); change += 1) {
  await store.transaction(async (tx) => {
    const shared = await tx.collection(counters).get("shared");
    await tx.collection(counters).insert({ name: `${name}.${change}`, value: 0 });
    await tx.collection(counters).update("shared", { value: (shared?.value ?? 0) + 1 });
  });
}
await store.close();
