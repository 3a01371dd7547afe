import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from "../../../documents/test/postgres-server.ts";
import { createProject, startProgram, type Program } from "../processes/service-program.ts";
import { item } from "./migrating-service.ts";

const count = 3_000;

/** A program before or with the migration, whose changes take a millisecond each. */
function startVersion(version: "new" | "old", DATABASE_URL: string): Program {
  const project = createProject();
  const source = new URL("../../src/index.ts", import.meta.url).href;
  const service = new URL("migrating-service.ts", import.meta.url).href;
  const main = `
import { runService } from ${JSON.stringify(source)};
import { migratingService, rename } from ${JSON.stringify(service)};
const cell = new Int32Array(new SharedArrayBuffer(4));
const [{ change }] = rename.changes;
const slow = (...given) => {
  Atomics.wait(cell, 0, 0, 1);
  return change(...given);
};
const migrations = [{ ...rename, changes: [{ collection: "items", change: slow }] }];
await runService(migratingService(${version === "new" ? "migrations" : "undefined"}));
`;
  writeFileSync(join(project.folder, "main.js"), main);
  const settings = version === "new" ? { MIGRATE: "start" } : {};
  return startProgram(project, { DATABASE_URL, LOG: "json", LOG_LEVEL: "info", ...settings });
}

describe.skipIf(noPostgres !== undefined)("MIGRATE=start on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it(
    "migrates while old and new processes serve, also when one is killed, and loses no write",
    { timeout: 180_000 },
    async () => {
      const url = await postgres.create();
      await using store = await openStore(url, { collections: [item.collection] });
      const items = store.collection(item.collection);
      const titles = Array.from({ length: count }, (_, index) => `t${index}`);
      const ids = await items.insertMany(titles.map((titel) => ({ titel, count: 0 })));
      const old = startVersion("old", url);
      const oldOrigin = await old.origin;
      const killed = startVersion("new", url);
      await expect.poll(killed.printed, { timeout: 60_000 }).toContain("begins");
      const left = startVersion("new", url);
      const leftOrigin = await left.origin;

      const acknowledged = new Map<string, number>();
      const created = new Map<string, string>();
      const refused: string[] = [];
      let isRunning = true;
      /** Changes and creates items; each writer has its own items. */
      const write = async (origin: string, writer: number): Promise<void> => {
        const own = ids.filter((_, index) => index % 40 === writer).map(({ id }) => id);
        for (let turn = 0; isRunning; turn += 1) {
          const id = own[turn % own.length] ?? "";
          const next = (acknowledged.get(id) ?? 0) + 1;
          const response = await send(`${origin}/items/${id}`, "PATCH", { count: next });
          if (response.status === 200) acknowledged.set(id, next);
          else refused.push(`${response.status} ${await response.text()}`);
          if (turn % 10 > 0) continue;
          const titel = `w${writer}-${turn}`;
          const posted = await send(`${origin}/items`, "POST", { titel });
          if (posted.status === 201) created.set((await posted.json()).id, titel);
          else refused.push(`${posted.status} ${await posted.text()}`);
        }
      };
      const writers = [oldOrigin, oldOrigin, leftOrigin].map(write);
      killed.child.kill("SIGKILL");
      await once(killed.child, "exit");
      await expect.poll(left.printed, { timeout: 120_000, interval: 100 }).toContain("is done");
      isRunning = false;
      await Promise.all(writers);

      expect(refused).toEqual([]);
      expect(killed.printed()).not.toContain("is done");
      expect([acknowledged.size > 50, created.size > 5]).toEqual([true, true]);
      for (const { id, titel, title, count: found } of await items.find({ limit: 10_000 })) {
        const index = ids.findIndex((each) => each.id === id);
        if (index === -1) expect(title ?? titel).toBe(created.get(id));
        else expect([titel, title]).toEqual([undefined, titles[index]]);
        expect(found).toBe(acknowledged.get(id) ?? 0);
        created.delete(id);
      }
      expect([
        created.size,
        await items.count({ where: { id: { in: ids.slice(0, 500).map(({ id }) => id) } } }),
      ]).toEqual([0, 500]);
      old.child.kill("SIGTERM");
      left.child.kill("SIGTERM");
      expect([(await old.end).code, (await left.end).code]).toEqual([0, 0]);
    },
  );
});

function send(url: string, method: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method, headers, body: JSON.stringify(body) });
}
