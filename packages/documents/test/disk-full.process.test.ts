import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { administer, openStore } from "../src/index.ts";
import { makeDisk, writeUntilRefused } from "./disk.ts";
import { noDiskReason, resizeDisk } from "./mount-disk.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const writerFile = fileURLToPath(new URL("disk-full-writer.ts", import.meta.url));

const mebibyte = 1024 * 1024;

it.skipIf(process.platform === "win32")(
  "a store on a full disk rejects what does not fit into the file, and loses nothing that was acknowledged",
  async () => {
    const path = join(temporaryFolder(), "a.db");
    // No file may grow beyond 512 blocks of 1,024 bytes: a failed write, which SQLite tells from a
    // full disk.
    const command = `ulimit -f 512; exec "$0" "$@"`;
    const args = [
      "-c",
      command,
      process.execPath,
      "--conditions=@fetchwork/source",
      writerFile,
      path,
    ];
    const { status, stdout, stderr } = spawnSync("bash", args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const { acknowledged, code } = Object(JSON.parse(stdout));
    expect(code).toBe("ERR_DOCUMENTS_ENGINE");
    expect(acknowledged).toBeGreaterThan(10);
    const store = await openStore(`sqlite:${path}`, { collections: [counters] });
    const names = (await store.collection(counters).find()).map(({ name }) => name);
    const expected = Array.from({ length: acknowledged }, (_, index) =>
      expect.stringMatching(`^${index}-`),
    );
    expect(names.toReversed()).toEqual(expected);
    expect(await store.collection(counters).count()).toBe(acknowledged);
    await store.close();
  },
);

it.skipIf(noDiskReason !== undefined)(
  "a store on a full disk tells a full disk from other faults, and writes again as soon as there is room",
  async () => {
    const disk = makeDisk(2 * mebibyte);
    const store = await openStore(`sqlite:${join(disk, "a.db")}`, { collections: [counters] });
    onTestFinished(() => store.close());
    const { error, names } = await writeUntilRefused(store);
    expect(error).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
    // What is left for a small document is used up as well.
    const small = await writeUntilRefused(store, 3);
    await expect(administer(store).probe()).rejects.toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
    resizeDisk(disk, 4 * mebibyte);
    const collection = store.collection(counters);
    await collection.insert({ name: "after", value: 1 });
    expect(await collection.count()).toBe(names.length + small.names.length + 1);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  },
);

/** Leaves a log of 18 MB whose content is all in the file, and ends as with `kill -9`. */
const leaveLongLog = `
const { DatabaseSync } = require("node:sqlite");
const database = new DatabaseSync(process.argv[1]);
database.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (text); BEGIN");
const filler = database.prepare("INSERT INTO filler VALUES (?)");
for (let row = 0; row < 4500; row += 1) filler.run("x".repeat(3500));
database.exec("COMMIT; PRAGMA wal_checkpoint(FULL); DROP TABLE filler");
process.kill(process.pid, "SIGKILL");
`;

it.skipIf(noDiskReason !== undefined)(
  "a store on a full disk says so when its log has room and the index of the log has none",
  async () => {
    const disk = makeDisk(96 * mebibyte);
    const path = join(disk, "a.db");
    await (await openStore(`sqlite:${path}`, { collections: [counters] })).close();
    spawnSync(process.execPath, ["-e", leaveLongLog, path]);
    const store = await openStore(`sqlite:${path}`, { collections: [counters] });
    onTestFinished(() => store.close());
    const collection = store.collection(counters);
    await collection.count();
    const { bfree, blocks, bsize } = statfsSync(disk);
    resizeDisk(disk, (blocks - bfree) * bsize);
    const { error, names } = await writeUntilRefused(store);
    expect(error).toMatchObject({ code: "ERR_DOCUMENTS_FULL" });
    resizeDisk(disk, 96 * mebibyte);
    await collection.insert({ name: "after", value: 1 });
    expect(await collection.count()).toBe(names.length + 1);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  },
);
