import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";
import { takeLock } from "../src/workspace/file-lock.ts";

let folder: ConfinedFolder;
beforeEach(async () => {
  folder = await ConfinedFolder.open(mkdtempSync(join(tmpdir(), "lock-test-")));
});
afterEach(() => rmSync(folder.root, { recursive: true, force: true }));

const lockInAnotherProcess = `
  const { ConfinedFolder } = await import(process.argv[1] + "/src/workspace/confined-folder.ts");
  const { takeLock } = await import(process.argv[1] + "/src/workspace/file-lock.ts");
  const unlock = await takeLock(await ConfinedFolder.open(process.argv[2]), "lock");
  process.stdout.write(unlock === undefined ? "no" : "yes");
  setInterval(() => {}, 1_000);
`;

/** What another process says about taking the lock; it then lives on until it is killed. */
function other() {
  const args = [
    "--conditions=@fetchwork/source",
    "--input-type=module",
    "-e",
    lockInAnotherProcess,
  ];
  const child = spawn(process.execPath, [...args, join(import.meta.dirname, ".."), folder.root]);
  const closed = new Promise((resolve) => child.once("close", resolve));
  return {
    answer: new Promise<string>((resolve, reject) => {
      child.once("error", reject);
      child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
      child.once("close", () => reject(new Error("it ended without an answer")));
    }),
    kill: () => (child.kill("SIGKILL"), closed),
  };
}

it("a file lock is free as soon as the process that has it is killed", async () => {
  const first = other();
  expect(await first.answer).toBe("yes");
  expect(await takeLock(folder, "lock")).toBeUndefined();
  await first.kill();
  const unlock = await takeLock(folder, "lock");
  expect(unlock).toBeDefined();
  unlock?.();
});
