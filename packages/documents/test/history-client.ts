// Runs argv[4] random transactions in the store of argv[2] under the name argv[3], two at a time,
// and writes what each run of them did, one JSON text a line.
import { DocumentsError, openStore, type Transaction } from "../src/index.ts";
import { keyNames, registers, type Step } from "./history.ts";

const [, , url = "", name = "", count = ""] = process.argv;
const givenUp = new Error("Given up on purpose");

await using store = await openStore(url, { collections: [registers], busyTimeout: 60_000 });
await Promise.all(["x", "y"].map((half) => client(`${name}${half}`)));

async function client(own: string): Promise<void> {
  let values = 0;
  for (let number = 0; number < Number(count); number += 1) {
    const runs: Step[][] = [];
    const steps = plan();
    const isGivenUp = Math.random() < 0.15;
    let isCommitted = true;
    try {
      await store.transaction(
        async (tx) => {
          const run: Step[] = [];
          runs.push(run);
          for (const [kind, key] of steps) {
            values += 1;
            run.push(await perform(tx, { kind, key, value: `${own}${values}` }));
            // Lets the other client of this process come between.
            if (Math.random() < 0.5) await new Promise(setImmediate);
          }
          if (isGivenUp) throw givenUp;
        },
        { timeout: 60_000 },
      );
    } catch (error) {
      const isExpected = error === givenUp || error instanceof DocumentsError;
      if (!isExpected || (error instanceof DocumentsError && error.code !== "ERR_DOCUMENTS_BUSY")) {
        throw error;
      }
      isCommitted = false;
    }
    for (const [attempt, run] of runs.entries()) {
      const isLast = attempt === runs.length - 1;
      const text = { name: `${own}${number}.${attempt}`, isCommitted: isLast && isCommitted };
      process.stdout.write(`${JSON.stringify({ ...text, steps: run })}\n`);
    }
  }
}

function plan(): readonly (readonly ["read" | "write", string])[] {
  return Array.from({ length: 2 + Math.floor(Math.random() * 4) }, () => [
    Math.random() < 0.6 ? "read" : "write",
    keyNames[Math.floor(Math.random() * keyNames.length)] ?? "a",
  ]);
}

async function perform(
  tx: Transaction,
  { kind, key, value }: Omit<Step, "version">,
): Promise<Step> {
  const collection = tx.collection(registers);
  const stored =
    kind === "read" ? await collection.get(key) : await collection.replace(key, { value });
  if (stored === undefined) throw new Error(`The register ${key} is gone`);
  return { kind, key, value: stored.value, version: stored.version };
}
