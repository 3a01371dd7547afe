// As somebody who is not root, opens the store of argv[2], reads it and changes it, and tells what
// came of each. A file that root may not write does not exist.
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";

const nobody = 65_534;

// What is loaded later must be loaded while it still may be read.
await (await openStore("sqlite::memory:", { collections: [counters] })).close();
if (process.getuid?.() === 0) {
  process.setgid?.(nobody);
  process.setuid?.(nobody);
}
const outcomes: Record<string, unknown> = {};

async function note(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    outcomes[name] = (await work()) ?? "done";
  } catch (error) {
    const { code, message } = Object(error);
    outcomes[name] = { code, message };
  }
}

await note("open", async () => {
  const store = await openStore(`sqlite:${process.argv[2] ?? ""}`, { collections: [counters] });
  const collection = store.collection(counters);
  await note("read", () => collection.count({ where: {} }));
  await note("change", () => collection.insert({ name: "new", value: 2 }));
  await note("close", () => store.close());
});
process.stdout.write(JSON.stringify(outcomes));
