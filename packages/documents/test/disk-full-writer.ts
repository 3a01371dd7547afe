// Fills the store of argv[2] until that fails, then tells how far it came.
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";

// Otherwise the system ends the process before SQLite hears of the failure.
process.on("SIGXFSZ", () => undefined);
const store = await openStore(`sqlite:${process.argv[2] ?? ""}`, { collections: [counters] });
const collection = store.collection(counters);
for (let acknowledged = 0; ; acknowledged += 1) {
  try {
    await collection.insert({ name: `${acknowledged}-${"x".repeat(5000)}`, value: 0 });
  } catch (error) {
    const again = await collection.count({ where: {} });
    if (again !== acknowledged) throw error;
    process.stdout.write(
      JSON.stringify({ acknowledged, code: Reflect.get(Object(error), "code") }),
    );
    break;
  }
}
await store.close();
