import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { allEngines } from "../db/db-world.ts";
import { fill, itemsApp, newProject, readAll } from "./migrate-world.ts";

const mainFile = join(import.meta.dirname, "../../src/main.ts");
const loadFile = join(import.meta.dirname, "load-program.ts");
const changes = Number(process.env["FETCHWORK_MODEL_CHANGES"] ?? 8);
const documents = 400;

/** Numbers from 0 below `below`, the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function start(file: string, args: readonly string[], cwd: string): ChildProcess {
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", file, ...args], { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function textOf(stream: AsyncIterable<unknown> | null): Promise<string> {
  let text = "";
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

describe.each(allEngines)(
  `${changes} random changes of a model under load on %s`,
  (_engine, newUrl) => {
    it(
      "lose nothing, also when a run is killed",
      async () => {
        const random = randomNumbers(43);
        const url = await newUrl();
        // Each part of the shape is the name of a text, and what its values begin with.
        const fields = new Map([["title", "title"]]);
        await fill(
          url,
          "items",
          Array.from({ length: documents }, (_, index) => ({ title: `title ${index}`, count: 0 })),
        );
        const cwd = newProject("");
        const load = start(loadFile, [url], cwd);
        const printed = textOf(load.stdout);
        for (let number = 1; number <= changes; number += 1) {
          const names = [...fields.keys()];
          const from = names[random(names.length)] ?? "";
          const value = fields.get(from) ?? "";
          if (random(2) === 0) fields.set(`added${number}`, "");
          else {
            fields.delete(from);
            fields.set(`${from.replace(/\d+$/, "")}${number}`, value);
          }
          const shape = [...fields.keys()].map((name) => `${name}: z.string()`);
          writeFileSync(
            join(cwd, "src/app.ts"),
            itemsApp([...shape, "count: z.number()"].join(", ")),
          );
          const plan = start(
            mainFile,
            ["migrate", "plan", "-u", url, "--write", `--name=n${number}`],
            cwd,
          );
          const said = textOf(plan.stdout);
          expect([(await once(plan, "exit"))[0], await said]).toEqual([
            1,
            expect.stringContaining("written"),
          ]);
          const run = ["migrate", "run", "-u", url, "--json"];
          if (number % 4 === 0) {
            const killed = start(mainFile, run, cwd);
            killed.stderr?.once("data", () => killed.kill("SIGKILL"));
            await once(killed, "exit");
          }
          const last = start(mainFile, run, cwd);
          const faults = textOf(last.stderr);
          expect([(await once(last, "exit"))[0], await faults]).toEqual([0, expect.any(String)]);
        }
        load.stdin?.end();
        const counted = Number((await printed).split("\n")[1]);
        expect(counted).toBeGreaterThan(changes);
        const all = await readAll(url, "items");
        expect(all).toHaveLength(documents);
        const counts = all.map((item) => Number(Reflect.get(item, "count")));
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(counted);
        const expected = all.map((_item, index) =>
          Object.fromEntries(
            [...fields].map(([name, value]) => [name, value && `${value} ${index}`]),
          ),
        );
        expect(all.map((item) => ({ ...item, count: 0 }))).toEqual(
          expected.map((item) => ({ ...item, count: 0 })),
        );
      },
      60_000 + changes * 30_000,
    );
  },
);
