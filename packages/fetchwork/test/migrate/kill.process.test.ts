import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { allEngines } from "../db/db-world.ts";
import { addMigration, fill, itemsApp, migrate, newProject, readAll } from "./migrate-world.ts";

const mainFile = join(import.meta.dirname, "../../src/main.ts");
const prices = Array.from({ length: 3000 }, (_, price) => price);

/** It is not idempotent, so that a second time would show. */
const twice = `
export const migration = {
  id: 1,
  name: "in-cents",
  changes: [{
    collection: "items",
    change: ({ price }) => ({ price: price * 100 }),
    undo: ({ price }) => ({ price: price / 100 }),
  }],
};
`;

it("kill -9 of migrate run and undo: both go on where they were and change nothing twice", async () => {
  // All at once, since a lock of a killed process ends after 30 seconds.
  const tried = allEngines.flatMap(([engine, newUrl]) => [
    killAndRepeat("run", newUrl).then((result) => [engine, "run", result]),
    killAndRepeat("undo", newUrl).then((result) => [engine, "undo", result]),
  ]);
  const good = { kills: expect.toSatisfy((kills: number) => kills > 1), refused: true, code: 0 };
  expect(await Promise.all(tried)).toEqual(
    allEngines.flatMap(([engine]) => [
      [engine, "run", { ...good, found: prices.map((price) => price * 100) }],
      [engine, "undo", { ...good, found: prices }],
    ]),
  );
}, 240_000);

/** Kills a command in each of its first parts, and lets it end at last. */
async function killAndRepeat(
  command: "run" | "undo",
  newUrl: () => Promise<string>,
): Promise<{
  readonly kills: number;
  /** Whether the other command did nothing while this one was half done. */
  readonly refused: boolean;
  /** The exit code of the run that nobody killed. */
  readonly code: number;
  readonly found: readonly unknown[];
}> {
  const url = await newUrl();
  await fill(
    url,
    "items",
    prices.map((price) => ({ price })),
  );
  const cwd = newProject(itemsApp("price: z.number()"));
  addMigration(cwd, "0001-in-cents.ts", twice);
  if (command === "undo") expect((await migrate(["run", "-u", url], { cwd }))[0]).toBe(0);
  let kills = 0;
  let refused = true;
  for (let part = 1; part <= 4; part += 1) {
    if (await killedIn(part, [command, "-u", url], cwd)) kills += 1;
    if (kills > 0 && part === 1) {
      const other = command === "run" ? "undo" : "run";
      const [, stdout] = await migrate([other, "-u", url], { cwd });
      refused = stdout === "";
    }
  }
  const [code] = await migrate([command, "-u", url], { cwd });
  const items = await readAll(url, "items");
  return { kills, refused, code, found: items.map((item) => Reflect.get(item, "price")) };
}

/** Whether a command was killed after this number of lines of progress, before its end. */
async function killedIn(part: number, args: readonly string[], cwd: string): Promise<boolean> {
  const command = ["--conditions=@fetchwork/source", mainFile, "migrate", ...args, "--json"];
  const child = spawn(process.execPath, command, { cwd });
  let seen = 0;
  child.stderr.on("data", (chunk: Buffer) => {
    seen += String(chunk).split("\n").length - 1;
    if (seen >= part) child.kill("SIGKILL");
  });
  const [, signal]: readonly unknown[] = await once(child, "exit");
  return signal === "SIGKILL";
}
