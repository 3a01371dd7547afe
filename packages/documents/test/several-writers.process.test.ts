import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const WRITER = fileURLToPath(new URL("process-writer.ts", import.meta.url));
const PROCESSES = 3;
const CHANGES = 40;

it("stays right when several processes create and write one store at once", async () => {
  const path = join(temporaryFolder(), "a.db");
  const children = Array.from({ length: PROCESSES }, async (_, index) => {
    const args = ["--conditions=@fetchwork/source", WRITER, path, String(index), String(CHANGES)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const [[code], errors] = await Promise.all([once(child, "exit"), text(child.stderr)]);
    expect([code, errors]).toEqual([0, ""]);
  });
  await Promise.all(children);
  const store = await openStore(`sqlite:${path}`, { collections: [counters] });
  const collection = store.collection(counters);
  const shared = await collection.get("shared");
  expect(shared).toMatchObject({ value: PROCESSES * CHANGES, version: PROCESSES * CHANGES + 1 });
  expect(await collection.count()).toBe(PROCESSES * CHANGES + 1);
  expect(await collection.count({ where: {} })).toBe(PROCESSES * CHANGES + 1);
  await store.close();
});
