import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { findAnomalies, KEYS, registers, type Run, type Step } from "./history.ts";
import { newDatabase } from "./open-for-test.ts";
import { POSTGRES } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const CLIENT = fileURLToPath(new URL("history-client.ts", import.meta.url));
const PROCESSES = 3;
const TRANSACTIONS = 60;

const ENGINES: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)],
  ...POSTGRES.map(([name, bin]) => [name, () => newDatabase(bin)] as const),
];

async function runClient(url: string, name: string): Promise<readonly Run[]> {
  const args = ["--conditions=@fetchwork/source", CLIENT, url, name, String(TRANSACTIONS)];
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

describe.each(ENGINES)("Transactions of several processes in %s", (_name, create) => {
  it("have a history without anomalies", { timeout: 120_000 }, async () => {
    const url = await create();
    {
      await using store = await openStore(url, { collections: [registers] });
      for (const id of KEYS) await store.collection(registers).insert({ value: "first" }, { id });
    }
    const names = Array.from({ length: PROCESSES }, (_, index) => `p${index}`);
    const runs = (await Promise.all(names.map((name) => runClient(url, name)))).flat();
    expect(findAnomalies(runs)).toEqual([]);
    // The history is one of clients that met, and the last word of each register is in the store.
    const written = runs
      .filter(({ isCommitted }) => isCommitted)
      .flatMap(({ steps }) => steps.filter(({ kind }) => kind === "write"));
    expect(written.length).toBeGreaterThan(PROCESSES * TRANSACTIONS);
    expect(runs.some(({ isCommitted }) => !isCommitted)).toBe(true);
    await using store = await openStore(url, { collections: [registers] });
    for (const key of KEYS) {
      const own = written.filter((step) => step.key === key);
      const last = own.toSorted((one, other) => other.version - one.version)[0];
      // The first version is that of the insertion.
      expect(own).toHaveLength((last?.version ?? 1) - 1);
      const { value, version } = last ?? {};
      expect(await store.collection(registers).get(key)).toMatchObject({ value, version });
    }
  });
});

describe("The checker of histories", () => {
  const read = (key: string, value: string, version: number): Step => {
    return { kind: "read", key, value, version };
  };
  const write = (key: string, value: string, version: number): Step => {
    return { kind: "write", key, value, version };
  };
  const run = (name: string, steps: readonly Step[], isCommitted = true): Run => {
    return { name, steps, isCommitted };
  };
  const first = run("first", [write("a", "a1", 2), write("b", "b1", 2)]);

  it("accepts transactions one after the other", () => {
    const second = run("second", [
      read("a", "a1", 2),
      write("a", "a2", 3),
      read("a", "a2", 3),
      write("a", "a3", 4),
      read("b", "b1", 2),
    ]);
    const third = run("third", [read("a", "a3", 4), write("b", "b2", 3)]);
    const undone = run("undone", [read("a", "a3", 4), write("a", "lost", 5)], false);
    expect(findAnomalies([third, undone, second, first])).toEqual([]);
  });

  it.each<[string, readonly Run[]]>([
    [
      "lost update",
      [
        run("one", [read("a", "a1", 2), write("a", "a2", 3)]),
        run("two", [read("a", "a1", 2), write("a", "a3", 4)]),
      ],
    ],
    ["lost update", [run("one", [write("a", "a2", 3)]), run("two", [write("a", "a3", 3)])]],
    ["dirty read", [run("one", [write("a", "x", 3)], false), run("two", [read("a", "x", 3)])]],
    [
      "intermediate read",
      [run("one", [write("a", "x", 3), write("a", "y", 4)]), run("two", [read("a", "x", 3)])],
    ],
    [
      "non-repeatable read",
      [run("one", [write("a", "x", 3)]), run("two", [read("a", "a1", 2), read("a", "x", 3)])],
    ],
    ["own write not read", [run("one", [write("a", "x", 3), read("a", "a1", 2)])]],
    ["unknown version", [run("one", [read("a", "from nowhere", 9)])]],
    [
      // Write skew: each reads what the other one writes, and nobody's update is lost.
      "cycle",
      [
        run("one", [read("a", "a1", 2), write("b", "b2", 3)]),
        run("two", [read("b", "b1", 2), write("a", "a2", 3)]),
      ],
    ],
    [
      // A reader that sees one half of each of two transactions.
      "cycle",
      [
        run("one", [write("a", "a2", 3), write("b", "b2", 3)]),
        run("two", [read("a", "a2", 3), read("b", "b1", 2)]),
      ],
    ],
  ])("finds a %s", (kind, runs) => {
    expect(findAnomalies([first, ...runs])).toContainEqual(expect.objectContaining({ kind }));
  });
});
