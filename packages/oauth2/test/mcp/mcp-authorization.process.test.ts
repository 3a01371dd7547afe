import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileTokenStore } from "../../src/node/file-token-store.ts";
import { authorizationOf, callAtOnce, signIn } from "./mcp-calls.ts";
import { startMcpServers, type McpServers } from "./mcp-servers.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-mcp-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Caller {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /**
   * Makes the calls, and returns how many were answered; `undefined` for a process that was killed.
   */
  go(): Promise<string | undefined>;
}

async function startCaller(url: URL, kind: "ours" | "naive", count: number): Promise<Caller> {
  const script = join(import.meta.dirname, "mcp-child.ts");
  const flags = ["--conditions=@fetchwork/source", "--no-warnings"];
  const args = [...flags, script, String(url), folder, kind, String(count)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    async go() {
      const exit = once(child, "exit");
      child.stdin.write("go\n");
      const { value } = await lines.next();
      await exit;
      return value;
    },
  };
}

/** Signs in, and makes the token look as if its hour was over. */
async function expired(servers: McpServers): Promise<FileTokenStore> {
  const store = new FileTokenStore(folder, { leaseTime: 1000 });
  await signIn(servers.url, store);
  servers.expire();
  await store.set("mcp", { ...(await store.get("mcp")), expires_at: 1 });
  return store;
}

async function callFromFive(url: URL, kind: "ours" | "naive"): Promise<number> {
  const starts = Array.from({ length: 5 }, () => startCaller(url, kind, 20));
  const callers = await Promise.all(starts);
  const counts = await Promise.all(callers.map((caller) => caller.go()));
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

describe("processes that call an MCP server with one expired token", () => {
  it("answers 100 of 100 calls of five processes by one refresh", async () => {
    await using servers = await startMcpServers();
    await expired(servers);
    expect(await callFromFive(servers.url, "ours")).toBe(100);
    expect(servers.refreshes).toEqual(["R1"]);
    expect(servers.revoked).toBe(false);
  }, 60_000);

  it("answers 100 of 100 calls by one refresh of a token that the server refuses early", async () => {
    await using servers = await startMcpServers();
    await signIn(servers.url, new FileTokenStore(folder));
    servers.expire();
    expect(await callFromFive(servers.url, "ours")).toBe(100);
    expect(servers.refreshes).toEqual(["R1"]);
  }, 60_000);

  it("loses the refresh token with the provider of the SDK's examples (control)", async () => {
    await using servers = await startMcpServers();
    await expired(servers);
    expect(await callFromFive(servers.url, "naive")).toBeLessThan(10);
    expect(servers.revoked).toBe(true);
  }, 60_000);

  it("keeps the newer token when the process with the lock is stopped for longer than its lease", async () => {
    await using servers = await startMcpServers();
    servers.grace = 1;
    const store = await expired(servers);
    const stopped = await startCaller(servers.url, "ours", 1);
    const { promise: isStopped, resolve } = Promise.withResolvers<void>();
    servers.onRefresh = (count) => {
      if (count > 1) return;
      stopped.kill("SIGSTOP");
      resolve();
    };
    const result = stopped.go();
    await isStopped;
    const successor = await startCaller(servers.url, "ours", 4);
    expect(await successor.go()).toBe("4");
    const { refresh_token } = (await store.get("mcp")) ?? {};
    stopped.kill("SIGCONT");
    expect(await result).toBe("1");
    expect((await store.get("mcp"))?.["refresh_token"]).toBe(refresh_token);
    servers.expire();
    expect(await callAtOnce(servers.url, authorizationOf(store), 4)).toBe(4);
    expect(servers.revoked).toBe(false);
  }, 60_000);

  it("goes on with the stored token when a process is killed inside a refresh", async () => {
    await using servers = await startMcpServers();
    servers.grace = 1;
    const store = await expired(servers);
    const killed = await startCaller(servers.url, "ours", 4);
    servers.onRefresh = (count) => {
      if (count === 1) killed.kill("SIGKILL");
    };
    expect(await killed.go()).toBeUndefined();
    expect(await callAtOnce(servers.url, authorizationOf(store), 20)).toBe(20);
    expect(servers.refreshes).toEqual(["R1", "R1"]);
    expect(servers.revoked).toBe(false);
  }, 60_000);
});
