import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { distributedKinds } from "./open-for-test.ts";
import { runSql } from "./postgres-server.ts";

interface Seat {
  row?: unknown;
  seat?: unknown;
  note?: string;
}

const seats = defineCollection<Seat>("seats", {
  unique: [["row", "seat"], "note"],
  softDelete: true,
  changes: "ids",
});
const writerFile = fileURLToPath(new URL("distributed-writer.ts", import.meta.url));
const roundCount = process.env["CI"] === "true" ? 20 : 3;

describe.each(distributedKinds)("A store in %s", (_name, create) => {
  it(
    "keeps documents and claims together when its process is killed",
    { timeout: roundCount * 10_000 },
    async () => {
      const url = await create();
      const acknowledged = new Set<string>();
      for (let round = 0; round < roundCount; round += 1) {
        const child = spawn(
          process.execPath,
          ["--conditions=@fetchwork/source", writerFile, url, `r${round}`],
          { stdio: ["ignore", "pipe", "inherit"] },
        );
        const exit = once(child, "exit");
        const enough = 20 + Math.floor(Math.random() * 200);
        let count = 0;
        for await (const id of createInterface({ input: child.stdout })) {
          acknowledged.add(id);
          count += 1;
          if (count === enough) child.kill("SIGKILL");
        }
        expect((await exit)[1]).toBe("SIGKILL");
        const left =
          "SELECT pid FROM pg_stat_activity WHERE application_name = 'fetchwork' AND datname = current_database()";
        await expect.poll(() => runSql(url, left), { timeout: 10_000 }).toEqual([]);
        const claimed = await runSql(url, 'SELECT id FROM "fetchwork:claims" ORDER BY id');
        const live = "SELECT id FROM seats WHERE deleted_at IS NULL ORDER BY id";
        expect(claimed).toEqual(await runSql(url, live));
        const store = await openStore(url);
        const stored = await store.collection(seats).find({ deleted: "include" });
        const ids = new Set(stored.map(({ id }) => id));
        expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
        const fed = new Set<string>();
        for await (const { id } of store.changes({ atEnd: "end" })) fed.add(id);
        expect([...fed].toSorted()).toEqual([...ids].toSorted());
        await store.close();
      }
    },
  );
});
