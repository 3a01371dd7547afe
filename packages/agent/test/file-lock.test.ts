import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";
import { takeLock, whileLocked } from "../src/workspace/file-lock.ts";

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

it("a file lock is had by one at a time, also in one process, and leaves an empty file", async () => {
  const unlock = await takeLock(folder, "lock");
  expect(unlock).toBeDefined();
  expect(await takeLock(folder, "lock")).toBeUndefined();
  // Anyone who was refused must not have taken it from the one who has it.
  const refused = other();
  expect(await refused.answer).toBe("no");
  await refused.kill();
  unlock?.();
  const again = await takeLock(folder, "lock");
  expect(again).toBeDefined();
  again?.();
  expect(readdirSync(folder.root)).toEqual(["lock"]);
});

it("a file lock lets others wait, and gives up waiting with the signal", async () => {
  const { signal } = new AbortController();
  let inside = 0;
  let most = 0;
  const use = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise(setImmediate);
    inside -= 1;
  };
  const lock = { path: "lock", signal };
  await Promise.all(Array.from({ length: 5 }, () => whileLocked(folder, lock, use)));
  expect(most).toBe(1);
  const unlock = await takeLock(folder, "lock");
  const ended = { path: "lock", signal: AbortSignal.abort() };
  await expect(whileLocked(folder, ended, use)).rejects.toMatchObject({
    code: "ERR_AGENT_CANCELLED",
  });
  unlock?.();
});
