import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { defineCollection, openStore, type Store } from "@fetchwork/documents";
import { DocumentTokenStore, type TokenDocument } from "@fetchwork/oauth2";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startRotatingServer } from "../packages/oauth2/test/rotating-server.ts";

// Packages of one layer do not know each other, so what they do together is tested here.
const tokens = defineCollection<TokenDocument>("tokens");
let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fetchwork-"));
  store = await openStore(`sqlite:${join(folder, "tokens.db")}`, { collections: [tokens] });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const newStore = (options = {}): DocumentTokenStore =>
  new DocumentTokenStore(store.collection(tokens), options);

function startProcess(origin: string, times: "once" | "forever"): ChildProcessWithoutNullStreams {
  const script = join(import.meta.dirname, "oauth2-refresh-process.ts");
  const url = `sqlite:${join(folder, "tokens.db")}`;
  const child = spawn(process.execPath, [
    "--conditions=@fetchwork/source",
    script,
    origin,
    url,
    times,
  ]);
  child.stderr.pipe(process.stderr);
  return child;
}

const expired = { access_token: "A0", refresh_token: "R0", expires_at: 1 };

it("DocumentTokenStore makes one refresh for four processes", async () => {
  await using server = await startRotatingServer();
  await newStore().set("default", expired);
  const children = Array.from({ length: 4 }, () => startProcess(server.origin, "once"));
  const lines = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
  for (const line of lines) expect((await line.next()).value).toBe("ready");
  const exits = children.map((child) => once(child, "exit"));
  for (const child of children) child.stdin.write("go\n");
  const found = await Promise.all(lines.map(async (line) => (await line.next()).value));
  expect(found).toEqual(["A1", "A1", "A1", "A1"]);
  expect(server.refreshes).toEqual(["R0"]);
  for (const exit of exits) expect(await exit).toEqual([0, null]);
}, 60_000);

it("DocumentTokenStore never loses the last valid refresh token when a process is killed midway", async () => {
  await using server = await startRotatingServer();
  await newStore().set("default", expired);
  for (let round = 0; round < 6; round += 1) {
    const child = startProcess(server.origin, "forever");
    const exit = once(child, "exit");
    const before = server.refreshes.length;
    const kill = (count: number): void => {
      if (count === before + 1 + round) child.kill("SIGKILL");
    };
    // Before the answer in every other round; else while the child reads or stores it.
    server.onRefresh = round % 2 === 0 ? kill : () => {};
    server.onAnswer = round % 2 === 0 ? () => {} : kill;
    child.stdin.write("go\n");
    expect(await exit).toEqual([null, "SIGKILL"]);
    const kept = await newStore().get("default");
    expect(server.accepts(kept?.["refresh_token"]), `round ${round}`).toBe(true);
  }
  expect(server.revoked).toBe(false);
}, 120_000);
