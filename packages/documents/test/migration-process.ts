// Opens the store of argv[2] with migrations that must each run once; says what it found.
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";

const [, , url = ""] = process.argv;
await using store = await openStore(url, {
  collections: [counters],
  busyTimeout: 15_000,
  migrations: [1, 2, 3].map((id) => ({
    id,
    name: `step ${id}`,
    up: async (tx) => {
      await tx.collection(counters).insert({ name: `step ${id}`, value: id });
    },
  })),
});
process.stdout.write(String(await store.collection(counters).count()));
