import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";

let base: string;
let folder: ConfinedFolder;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "confined-"));
  mkdirSync(join(base, "outside"));
  folder = await ConfinedFolder.open(join(base, "in", "side"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it.each<readonly [string, () => string, string]>([
  ["a file is", () => join(base, "file"), "EEXIST"],
  ["a file is on the way", () => join(base, "file/below"), "ENOTDIR"],
  ["a link leads nowhere", () => join(base, "dangling"), "EEXIST"],
  ["a link on the way leads nowhere", () => join(base, "dangling/below"), "EEXIST"],
])("a confined folder says why it cannot be made where %s", async (_, place, reason) => {
  writeFileSync(join(base, "file"), "");
  symlinkSync(join(base, "nowhere/at/all"), join(base, "dangling"));
  await expect(ConfinedFolder.open(place())).rejects.toMatchObject({
    code: "ERR_AGENT_WRITE",
    message: `the folder ${place()} cannot be made (${reason})`,
  });
});

it.runIf(process.platform === "linux")(
  "a confined folder does not try without end where the system makes no folders",
  async () => {
    await expect(ConfinedFolder.open("/proc/no/such")).rejects.toMatchObject({
      code: "ERR_AGENT_WRITE",
    });
  },
);

it("a confined folder is made by several at the same time, and is taken where it is", async () => {
  for (let round = 0; round < 100; round += 1) {
    const path = join(base, `many/${round}/deep/and/deeper/folders`);
    const opened = await Promise.all(Array.from({ length: 8 }, () => ConfinedFolder.open(path)));
    expect(new Set(opened.map(({ root }) => root)).size).toBe(1);
  }
});

it("a confined folder writes and reads whole files in folders that it makes, and leaves nothing else", async () => {
  await folder.write("a/b/c.txt", "grüße\n");
  await folder.write("a/b/c.txt", "again\n");
  expect(await folder.read("a/b/c.txt")).toBe("again\n");
  expect(await folder.read("a/b/d.txt")).toBeUndefined();
  expect(await folder.read("x/y.txt")).toBeUndefined();
  expect(readdirSync(join(folder.root, "a/b"))).toEqual(["c.txt"]);
});

it.each(["../x", "/etc/x", "a/../../x", "a\0", ".git/config", "con"])(
  "a confined folder refuses %j",
  async (path) => {
    await expect(folder.write(path, "x")).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
    await expect(folder.read(path)).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
  },
);

it("a confined folder follows no link of a folder or a file, and replaces a link of a file without touching its target", async () => {
  writeFileSync(join(base, "outside/secret"), "secret");
  symlinkSync(join(base, "outside"), join(folder.root, "folder"));
  symlinkSync(join(base, "outside/secret"), join(folder.root, "file"));
  await expect(folder.write("folder/x", "x")).rejects.toMatchObject({
    code: "ERR_AGENT_UNSAFE_PATH",
  });
  await expect(folder.read("folder/secret")).rejects.toMatchObject({
    code: "ERR_AGENT_UNSAFE_PATH",
  });
  await expect(folder.read("file")).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
  await folder.write("file", "mine");
  expect(readFileSync(join(base, "outside/secret"), "utf8")).toBe("secret");
  expect(readFileSync(join(folder.root, "file"), "utf8")).toBe("mine");
});

it("a confined folder refuses a file of 100 MiB, and says so", async () => {
  await expect(folder.write("big", "x".repeat(100 * 1024 * 1024))).rejects.toMatchObject({
    code: "ERR_AGENT_LIMIT",
    message: expect.stringContaining("104857600 bytes"),
  });
  expect(readdirSync(folder.root)).toEqual([]);
});

it("a confined folder keeps the permissions of a file that it replaces", async () => {
  const place = join(folder.root, "run.sh");
  writeFileSync(place, "old");
  for (const mode of [0o755, 0o600]) {
    chmodSync(place, mode);
    await folder.write("run.sh", "new");
    expect(statSync(place).mode & 0o777).toBe(mode);
  }
});

it("a confined folder does not replace a file that somebody made in the meantime", async () => {
  await folder.write("a", "first", { isNew: true });
  await expect(folder.write("a", "second", { isNew: true })).rejects.toMatchObject({
    code: "ERR_AGENT_CONFLICT",
  });
  expect(await folder.read("a")).toBe("first");
  expect(readdirSync(folder.root)).toEqual(["a"]);
});

it("a confined folder keeps the byte order mark of a text", async () => {
  writeFileSync(join(folder.root, "a"), "\uFEFFtext");
  expect(await folder.read("a")).toBe("\uFEFFtext");
});

it("a confined folder opens no link as one of its files", async () => {
  writeFileSync(join(base, "outside/secret"), "secret");
  symlinkSync(join(base, "outside/secret"), join(folder.root, "own"));
  await expect(folder.openOwn("own")).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
  await expect(folder.makeOwn("own")).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
  expect(readFileSync(join(base, "outside/secret"), "utf8")).toBe("secret");
});

it("neither waits for a pipe in the place of a file, nor reads or keeps it", async () => {
  execFileSync("mkfifo", [join(folder.root, "pipe")]);
  const refusal = { code: "ERR_AGENT_UNSAFE_PATH", message: expect.stringContaining("regular") };
  await expect(folder.read("pipe")).rejects.toMatchObject(refusal);
  await expect(folder.openOwn("pipe")).rejects.toMatchObject(refusal);
  await expect(folder.makeOwn("pipe")).rejects.toMatchObject(refusal);
});

it("a confined folder takes one of its files that is there as it is", async () => {
  writeFileSync(join(folder.root, "own"), "kept");
  await folder.makeOwn("own");
  expect(readFileSync(join(folder.root, "own"), "utf8")).toBe("kept");
});

it("a confined folder opens a folder that is not there only to make it", async () => {
  const missing = join(base, "missing");
  await expect(ConfinedFolder.open(missing, { mustExist: true })).rejects.toMatchObject({
    code: "ERR_AGENT_WRITE",
  });
  expect(readdirSync(base)).not.toContain("missing");
});

it("a confined folder refuses a folder in the place of a file, and a file in the place of a folder", async () => {
  mkdirSync(join(folder.root, "a"));
  writeFileSync(join(folder.root, "b"), "");
  await expect(folder.write("a", "x")).rejects.toMatchObject({
    code: expect.stringMatching(/UNSAFE_PATH|WRITE/),
  });
  await expect(folder.write("b/c", "x")).rejects.toMatchObject({ code: "ERR_AGENT_UNSAFE_PATH" });
});

it("a confined folder stays inside while somebody exchanges a folder for a link", async () => {
  mkdirSync(join(folder.root, "a"));
  let isOver = false;
  // The writer may make the folder again while it is away: that is the race, and no fault of it.
  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  };
  const exchange = (async () => {
    while (!isOver) {
      attempt(() => renameSync(join(folder.root, "a"), join(folder.root, "a-real")));
      attempt(() => symlinkSync(join(base, "outside"), join(folder.root, "a")));
      await new Promise(setImmediate);
      attempt(() => rmSync(join(folder.root, "a"), { recursive: true, force: true }));
      attempt(() => renameSync(join(folder.root, "a-real"), join(folder.root, "a")));
      await new Promise(setImmediate);
    }
  })();
  const outcomes = { written: 0, refused: 0 };
  for (let at = 0; at < 3_000 && (outcomes.written < 20 || outcomes.refused < 20); at += 1) {
    await folder.write(`a/f${at % 5}`, "x").then(
      () => (outcomes.written += 1),
      () => (outcomes.refused += 1),
    );
  }
  isOver = true;
  await exchange;
  expect(outcomes.written).toBeGreaterThan(0);
  expect(outcomes.refused).toBeGreaterThan(0);
  expect(readdirSync(join(base, "outside"))).toEqual([]);
});

it("a confined folder makes no folder when it only looks", async () => {
  const place = mkdtempSync(join(tmpdir(), "looks-"));
  const folder = await ConfinedFolder.open(place);
  expect(await folder.read("a/b/c.txt")).toBeUndefined();
  expect(await folder.exists("a/b/c.txt")).toBe(false);
  await folder.clean("a/b/c.txt");
  expect(readdirSync(place)).toEqual([]);
  rmSync(place, { recursive: true });
});

it("a confined folder takes a file of exactly the size that is allowed", async () => {
  const small = await ConfinedFolder.open(join(base, "small"), { maxFileBytes: 3 });
  await small.write("a.txt", "abc");
  expect(await small.read("a.txt")).toBe("abc");
  await expect(small.write("b.txt", "abcd")).rejects.toMatchObject({ code: "ERR_AGENT_LIMIT" });
});
