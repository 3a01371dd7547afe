import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { findAnomalies, keyNames, registers, type Run } from "./history.ts";
import { newDatabase } from "./open-for-test.ts";
import { postgresVersions } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const clientFile = fileURLToPath(new URL("history-client.ts", import.meta.url));
const processCount = 3;
const transactions = 60;

const allEngines: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)],
  ...postgresVersions.map(([name, bin]) => [name, () => newDatabase(bin)] as const),
];

async function runClient(url: string, name: string): Promise<readonly Run[]> {
  const args = ["--conditions=@fetchwork/source", clientFile, url, name, String(transactions)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [[code], errors, lines] = await Promise.all([
    once(child, "exit"),
    text(child.stderr),
    text(child.stdout),
  ]);
  expect([code, errors]).toEqual([0, ""]);
  // The lines are of our own program.
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Run => JSON.parse(line));
}

describe.each(allEngines)("Transactions of several processes in %s", (_name, create) => {
  it("have a history without anomalies", { timeout: 120_000 }, async () => {
    const url = await create();
    {
      await using store = await openStore(url, { collections: [registers] });
      for (const id of keyNames)
        await store.collection(registers).insert({ value: "first" }, { id });
    }
    const names = Array.from({ length: processCount }, (_, index) => `p${index}`);
    const runs = (await Promise.all(names.map((name) => runClient(url, name)))).flat();
    expect(findAnomalies(runs)).toEqual([]);
    // The history is one of clients that met, and the last word of each register is in the store.
    const written = runs
      .filter(({ isCommitted }) => isCommitted)
      .flatMap(({ steps }) => steps.filter(({ kind }) => kind === "write"));
    expect(written.length).toBeGreaterThan(processCount * transactions);
    expect(runs.some(({ isCommitted }) => !isCommitted)).toBe(true);
    await using store = await openStore(url, { collections: [registers] });
    for (const key of keyNames) {
      const own = written.filter((step) => step.key === key);
      const last = own.toSorted((one, other) => other.version - one.version)[0];
      // The first version is that of the insertion.
      expect(own).toHaveLength((last?.version ?? 1) - 1);
      const { value, version } = last ?? {};
      expect(await store.collection(registers).get(key)).toMatchObject({ value, version });
    }
  });
});
