import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openStore } from "../src/index.ts";
import { counters } from "./process-collections.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const clientFile = fileURLToPath(new URL("read-only-client.ts", import.meta.url));
const nobody = 65_534;
const hint = "the file and its folder must be readable and writable";

/** Makes a store of one document in a folder that belongs to anyone who will open it. */
async function makeStore(): Promise<{ readonly folder: string; readonly path: string }> {
  const outer = temporaryFolder();
  const folder = join(outer, "data");
  const path = join(folder, "a.db");
  mkdirSync(folder);
  chmodSync(outer, 0o755);
  const store = await openStore(`sqlite:${path}`, { collections: [counters] });
  await store.collection(counters).insert({ name: "kept", value: 1 });
  await store.close();
  for (const each of [outer, folder, path]) give(each);
  return { folder, path };
}

function give(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, nobody, nobody);
}

function openAsNobody(path: string): Record<string, unknown> {
  const args = ["--conditions=@fetchwork/source", clientFile, path];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return Object(JSON.parse(stdout));
}

function refusal(path: string, reason: string): Record<string, unknown> {
  return { open: { code: "ERR_DOCUMENTS_OPEN", message: `cannot open ${path}: ${reason}` } };
}

async function expectKept(path: string, before: Buffer): Promise<void> {
  expect(readFileSync(path).equals(before)).toBe(true);
  const store = await openStore(`sqlite:${path}`, { collections: [counters] });
  expect(await store.collection(counters).find()).toMatchObject([{ name: "kept", value: 1 }]);
  await store.close();
}

describe.skipIf(process.platform === "win32")("A store that may not be written", () => {
  it("can be opened by its owner, so that what follows is about the modes", async () => {
    const { path } = await makeStore();
    expect(openAsNobody(path)).toMatchObject({ open: "done", read: 1, close: "done" });
  });

  it("can be read but not changed, with a file of mode 0400", async () => {
    const { path } = await makeStore();
    const before = readFileSync(path);
    chmodSync(path, 0o400);
    expect(openAsNobody(path)).toEqual({
      open: "done",
      read: 1,
      change: {
        code: "ERR_DOCUMENTS_ENGINE",
        message: `SQLite failed with the code 8: attempt to write a readonly database; ${hint}`,
      },
      close: "done",
    });
    await expectKept(path, before);
  });

  it("is refused when it is opened, in a folder of mode 0500", async () => {
    const { folder, path } = await makeStore();
    const before = readFileSync(path);
    chmodSync(folder, 0o500);
    expect(openAsNobody(path)).toEqual(
      refusal(path, `attempt to write a readonly database; ${hint}`),
    );
    await expectKept(path, before);
    expect(readdirSync(folder)).toEqual(["a.db"]);
  });

  it("is refused with a file that may not be read", async () => {
    const { path } = await makeStore();
    const before = readFileSync(path);
    chmodSync(path, 0o000);
    expect(openAsNobody(path)).toEqual(refusal(path, `unable to open database file; ${hint}`));
    chmodSync(path, 0o600);
    await expectKept(path, before);
  });

  it("is not made in a folder that may not be written", async () => {
    const { folder } = await makeStore();
    chmodSync(folder, 0o500);
    const path = join(folder, "missing", "b.db");
    for (const each of [path, join(folder, "b.db")]) {
      expect(openAsNobody(each)).toEqual({
        open: {
          code: "ERR_DOCUMENTS_OPEN",
          message: expect.stringMatching(`^cannot open ${each}: EACCES: permission denied`),
        },
      });
    }
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(folder)).toEqual(["a.db"]);
  });
});
