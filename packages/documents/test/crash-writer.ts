// Writes to the store of the URL in argv[2] until it is killed. Its emails begin with argv[3].
import { writeSync } from "node:fs";
import { openStore } from "../src/index.ts";
import { type Acknowledged, ledger, members } from "./crash-collections.ts";

const writers = 8;
const [, , url = "", prefix = ""] = process.argv;
const store = await openStore(url, { collections: [members, ledger] });
const collection = store.collection(members);

function say(line: Acknowledged): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function write(writer: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const email = `${prefix}.${writer}.${turn}`;
    const member = { email, changes: 1, filler: "é".repeat((turn * 97) % 3000) };
    const { id, version } = await collection.insert(member);
    say({ kind: "insert", id, email, version });
    for (let change = 0; change < turn % 3; change += 1) {
      const changed = await collection.update(id, (now) => ({ ...now, changes: now.changes + 1 }));
      if (changed === undefined) throw new Error("A document is lost");
      say({ kind: "update", id, email, version: changed.version });
    }
    const again = await collection.insert(member).catch((error: unknown) => error);
    if (!(again instanceof Error)) throw new Error("A unique field was taken twice");
    if (turn % 4 === 1) {
      say({ kind: "removing", id });
      await collection.remove(id);
      say({ kind: "removed", id });
    }
    if (turn % 4 === 2) await writePair(`${email}.pair`);
  }
}

async function writePair(pair: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.collection(members).insert({ email: pair, changes: 1, pair, filler: "" });
    await Promise.resolve();
    await tx.collection(ledger).insert({ pair });
  });
  say({ kind: "pair", pair });
}

await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
