import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { postgresVersions } from "./postgres-server.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";
const processCount = 10;

const databases: readonly (readonly [engine: string, newUrl: () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)],
  ...postgresVersions.map(([name, bin]) => [name, () => newDatabase(bin)] as const),
];

describe.each(databases)("A migration of %s", (_engine, newUrl) => {
  it("runs once when ten processes start together", async () => {
    const url = await newUrl();
    const program = fileURLToPath(new URL("migration-process.ts", import.meta.url));
    const children = Array.from({ length: processCount }, async () => {
      const args = ["--conditions=@fetchwork/source", program, url];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
      const [[code], out, errors] = await Promise.all([
        once(child, "exit"),
        text(child.stdout),
        text(child.stderr),
      ]);
      expect([code, out, errors]).toEqual([0, "3", ""]);
    });
    await Promise.all(children);
    await using store = await openStore(url, { collections: [counters] });
    expect(await store.collection(counters).find({ sort: ["value"] })).toMatchObject([
      { name: "step 1", value: 1 },
      { name: "step 2", value: 2 },
      { name: "step 3", value: 3 },
    ]);
    // Each of the ten reads the sources on its own, which takes a busy machine long.
  }, 60_000);
});
