import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const writerFile = fileURLToPath(new URL("process-writer.ts", import.meta.url));
const processCount = 3;
const changesPerProcess = 40;

it("a store stays right when several processes create and write one store at once", async () => {
  const path = join(temporaryFolder(), "a.db");
  const children = Array.from({ length: processCount }, async (_, index) => {
    const args = [
      "--conditions=@fetchwork/source",
      writerFile,
      path,
      String(index),
      String(changesPerProcess),
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const [[code], errors] = await Promise.all([once(child, "exit"), text(child.stderr)]);
    expect([code, errors]).toEqual([0, ""]);
  });
  await Promise.all(children);
  const store = await openStore(`sqlite:${path}`, { collections: [counters] });
  const collection = store.collection(counters);
  const shared = await collection.get("shared");
  expect(shared).toMatchObject({
    value: processCount * changesPerProcess,
    version: processCount * changesPerProcess + 1,
  });
  expect(await collection.count()).toBe(processCount * changesPerProcess + 1);
  expect(await collection.count({ where: {} })).toBe(processCount * changesPerProcess + 1);
  await store.close();
});
