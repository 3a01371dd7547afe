import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, vi } from "vitest";
import { endProgram } from "../src/verify/end-program.ts";

it("endProgram ends a program by its tree on Windows, which has no process groups", () => {
  const run = vi.fn<(file: string, args: readonly string[]) => void>();
  endProgram(42, "win32", run);
  expect(run.mock.calls).toEqual([["taskkill.exe", ["/pid", "42", "/t", "/f"]]]);
});

it("endProgram does not fail for a program that has ended, or has not started", () => {
  const failing = (): never => {
    throw new Error("there is no such process");
  };
  expect(() => endProgram(42, "win32", failing)).not.toThrow();
  expect(() => endProgram(undefined, "win32", failing)).not.toThrow();
});

it.skipIf(process.platform === "win32")("endProgram ends a group elsewhere", async () => {
  const child = spawn("sh", ["-c", "sleep 60 & wait"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  const exit = once(child, "exit");
  endProgram(child.pid);
  expect(await exit).toEqual([null, "SIGKILL"]);
});
