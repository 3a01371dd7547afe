import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { setUpFile } from "../src/engines/sqlite/set-up-file.ts";

it("A store whose file another process sets up at the same moment is opened, and not taken for that of another program", () => {
  const folder = mkdtempSync(join(tmpdir(), "set-up-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "a.db");
  const open = (): Connection => {
    const database = new DatabaseSync(path);
    onTestFinished(() => database.close());
    return new Connection(database);
  };
  const slow = open();
  let reads = 0;
  const get = slow.get.bind(slow);
  slow.get = (...given) => {
    const found = get(...given);
    reads += 1;
    if (reads === 1) setUpFile(open(), path, { create: true });
    return found;
  };
  expect(setUpFile(slow, path, { create: true })).toBe(true);
  expect(reads).toBeGreaterThan(1);
});
