import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { defineCollection, openStore, type Store } from "@fetchwork/documents";
import {
  AccessToken,
  DocumentTokenStore,
  OAuth2Client,
  TokenManager,
  type TokenDocument,
} from "@fetchwork/oauth2";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
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

it("keeps, replaces and removes tokens under any key", async () => {
  const kept = newStore();
  expect(await kept.get("../a b")).toBeUndefined();
  for (const access_token of ["A", "B"]) {
    await kept.set("../a b", { access_token, refresh_token: null, $odd: { id: 1 } });
    expect(await kept.get("../a b")).toEqual({
      access_token,
      refresh_token: null,
      $odd: { id: 1 },
    });
  }
  await kept.delete("../a b");
  expect(await kept.get("../a b")).toBeUndefined();
  await kept.delete("../a b");
});

it("makes one refresh of many managers, each with a store of its own", async () => {
  const refresh = vi.fn(async () =>
    Response.json({ access_token: "fresh", refresh_token: "R1", expires_in: 3600 }),
  );
  const client = new OAuth2Client("id", "secret", { site: "https://e.org", fetch: refresh });
  const old = { access_token: "old", refresh_token: "R0", expires_at: 1 };
  await newStore().set("default", old);
  const managers = Array.from({ length: 8 }, () => new TokenManager(client, { store: newStore() }));
  const found = await Promise.all(managers.map((manager) => manager.getToken()));
  expect(new Set(found.map(({ token }) => token))).toEqual(new Set(["fresh"]));
  expect(refresh).toHaveBeenCalledOnce();
  expect(await newStore().get("default")).toMatchObject({ refresh_token: "R1" });
  expect(AccessToken.fromHash(client, (await newStore().get("default")) ?? {}).token).toBe("fresh");
});

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

it("makes one refresh of four processes", async () => {
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

it("never loses the last valid refresh token when a process is killed half-way", async () => {
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

it("takes a lock over whose holder is gone, and waits for one that is not", async () => {
  const first = newStore({ leaseTime: 1000 });
  const second = newStore({ patience: 20 });
  const never = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const holding = first.lock("k", () => {
    started.resolve();
    return never.promise;
  });
  await started.promise;
  await expect(second.lock("k", async () => {})).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
  expect(await newStore({ patience: 5000 }).lock("k", async () => "taken over")).toBe("taken over");
  never.resolve();
  await holding;
});

it("refuses a damaged document, without showing it", async () => {
  const kept = newStore();
  await kept.set("k", { access_token: "A" });
  const collection = store.collection(tokens);
  for (const { id } of await collection.find()) {
    await collection.replace(id, { token: '{"access_token":"canary-9c1' });
  }
  const error: unknown = await kept.get("k").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "ERR_OAUTH_STORE" });
  expect(inspect(error)).not.toContain("canary");
});

it("refuses a lease that is no time", () => {
  expect(() => newStore({ leaseTime: Number.NaN })).toThrow(
    expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
  );
});
