import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { writeWhole } from "../src/engines/sqlite/file/backup.ts";

/** The files that are open for reading only. */
const readOnly = vi.hoisted(() => new Set<number>());

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    openSync(file: string, flags: string, mode?: number) {
      const descriptor = fs.openSync(file, flags, mode);
      if (flags === "r") readOnly.add(descriptor);
      else readOnly.delete(descriptor);
      return descriptor;
    },
    // As on Windows, where FlushFileBuffers needs the right to write.
    fsyncSync(descriptor: number) {
      if (readOnly.has(descriptor)) throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      fs.fsyncSync(descriptor);
    },
  };
});

it("a backup is on the disk on Windows, which flushes only what may be written", async () => {
  const { platform } = process;
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
  Object.defineProperty(process, "platform", { value: "win32" });
  const folder = mkdtempSync(path.join(tmpdir(), "backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "backup.db");
  await writeWhole(file, (part) => Promise.resolve(writeFileSync(part, "all")));
  expect(readFileSync(file, "utf8")).toBe("all");
});
