import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const WRITER = fileURLToPath(new URL("disk-full-writer.ts", import.meta.url));

it.skipIf(process.platform === "win32")(
  "rejects what does not fit on the disk, and loses nothing that was acknowledged",
  async () => {
    const path = join(temporaryFolder(), "a.db");
    // No file may grow beyond 512 blocks of 1,024 bytes, which SQLite meets as a full disk does.
    const command = `ulimit -f 512; exec "$0" "$@"`;
    const args = ["-c", command, process.execPath, "--conditions=@fetchwork/source", WRITER, path];
    const { status, stdout, stderr } = spawnSync("bash", args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const { acknowledged, code } = Object(JSON.parse(stdout));
    expect(code).toBe("ERR_DOCUMENTS_FULL");
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
