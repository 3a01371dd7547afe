import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEngines } from "../db/db-world.ts";
import { addMigration, fill, itemsApp, migrate, newProject, readAll } from "./migrate-world.ts";

const mainFile = join(import.meta.dirname, "../../src/main.ts");
const count = 3000;

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

describe.each(allEngines)("kill -9 of fetchwork migrate on %s", (_engine, newUrl) => {
  it.each(["run", "undo"])(
    "%s goes on where it was and changes nothing twice",
    async (command) => {
      const url = await newUrl();
      const prices = Array.from({ length: count }, (_, price) => ({ price }));
      await fill(url, "items", prices);
      const cwd = newProject(itemsApp("price: z.number()"));
      addMigration(cwd, "0001-in-cents.ts", twice);
      if (command === "undo") expect((await migrate(["run", "-u", url], { cwd }))[0]).toBe(0);
      let kills = 0;
      for (let part = 1; part <= 4; part += 1) {
        const args = ["--conditions=@fetchwork/source", mainFile, "migrate", command, "-u", url];
        const child = spawn(process.execPath, [...args, "--json"], { cwd });
        let seen = 0;
        child.stderr.on("data", (chunk: Buffer) => {
          seen += String(chunk).split("\n").length - 1;
          if (seen >= part) child.kill("SIGKILL");
        });
        const [, signal]: readonly unknown[] = await once(child, "exit");
        if (signal === "SIGKILL") kills += 1;
        if (kills > 0 && part === 1) {
          const other = command === "run" ? "undo" : "run";
          const [code, stdout] = await migrate([other, "-u", url], { cwd });
          expect([code === 1 || stdout === "", stdout]).toEqual([true, ""]);
        }
      }
      expect(kills).toBeGreaterThan(1);
      // A lock of a killed process ends after 30 seconds.
      const [code] = await migrate([command, "-u", url], { cwd });
      expect(code).toBe(0);
      const expected =
        command === "run" ? prices.map(({ price }) => ({ price: price * 100 })) : prices;
      expect(await readAll(url, "items")).toEqual(expected);
    },
    240_000,
  );
});
