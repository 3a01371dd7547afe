import { defineCollection, openStore } from "@fetchwork/documents";

/** Adds 1 to the count of each item until its standard input ends, then prints how often. */
const [url = ""] = process.argv.slice(2);
await using store = await openStore(url);
const items = store.collection(defineCollection<{ count: number }>("items"));
const ids = (await items.find({ sort: ["id"], limit: 500 })).map(({ id }) => id);
let isRunning = true;
process.stdin.on("end", () => {
  isRunning = false;
});
process.stdin.resume();
process.stdout.write("ready\n");
let counted = 0;
while (isRunning) {
  const id = ids[counted % ids.length] ?? "";
  // As a program of any version does, it leaves the other fields as they are.
  await items.update(id, (stored) => ({ count: stored.count + 1 }));
  counted += 1;
  await new Promise((resolve) => setTimeout(resolve, 1));
}
process.stdout.write(`${counted}\n`);
