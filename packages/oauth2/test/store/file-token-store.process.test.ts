import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileTokenStore } from "../../src/node/file-token-store.ts";
import { startRotatingServer } from "../rotating-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-tokens-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const token = { access_token: "A0", refresh_token: "R0", expires_at: 1 };

type Child = ChildProcessByStdio<Writable, Readable, null>;

function startChild(origin: string, times: "once" | "forever"): Child {
  const script = join(import.meta.dirname, "refresh-child.ts");
  const args = ["--conditions=@fetchwork/source", "--no-warnings", script, origin, folder, times];
  return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
}

describe("processes with one store of tokens", () => {
  it("makes one refresh of four processes on one store", async () => {
    await using server = await startRotatingServer();
    await new FileTokenStore(folder).set("default", token);
    const children = Array.from({ length: 4 }, () => startChild(server.origin, "once"));
    const lines = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
    for (const line of lines) expect((await line.next()).value).toBe("ready");
    const exits = children.map((child) => once(child, "exit"));
    for (const child of children) child.stdin.write("go\n");
    const tokens = await Promise.all(lines.map(async (line) => (await line.next()).value));
    expect(tokens).toEqual(["A1", "A1", "A1", "A1"]);
    expect(server.refreshes).toEqual(["R0"]);
    for (const exit of exits) expect(await exit).toEqual([0, null]);
  }, 60_000);

  it("never loses the last valid refresh token when a process is killed half-way", async () => {
    await using server = await startRotatingServer();
    const store = new FileTokenStore(folder);
    await store.set("default", token);
    for (let round = 0; round < 10; round += 1) {
      const child = startChild(server.origin, "forever");
      const exit = once(child, "exit");
      const refreshesBefore = server.refreshes.length;
      const kill = (count: number): void => {
        if (count === refreshesBefore + 1 + round) child.kill("SIGKILL");
      };
      // Before the answer in every other round; else while the child reads or stores it.
      server.onRefresh = round % 2 === 0 ? kill : () => {};
      server.onAnswer = round % 2 === 0 ? () => {} : kill;
      child.stdin.write("go\n");
      await exit;
      const kept = await store.get("default");
      expect(server.accepts(kept?.["refresh_token"]), `round ${round}`).toBe(true);
    }
    expect(server.revoked).toBe(false);
  }, 120_000);
});
