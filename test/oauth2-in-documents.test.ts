import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

it("DocumentTokenStore keeps, replaces and removes tokens under any key", async () => {
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

it("DocumentTokenStore makes one refresh for many managers, each with its own store", async () => {
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

it("DocumentTokenStore takes over the lock of a holder that is gone, and waits for one that is not", async () => {
  const first = newStore({ leaseTime: 1000 });
  const second = newStore({ lockTimeout: 20 });
  const never = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const holding = first.lock("k", () => {
    started.resolve();
    return never.promise;
  });
  await started.promise;
  await expect(second.lock("k", async () => {})).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
  expect(await newStore({ lockTimeout: 5000 }).lock("k", async () => "taken over")).toBe(
    "taken over",
  );
  never.resolve();
  await holding;
});

it.each([
  ["keeps what another holder stored", "newer", "newer"],
  ["keeps nothing where another holder removed it", null, undefined],
  ["stores it where another holder stored nothing", undefined, "late"],
])("DocumentTokenStore, after its lease was over, %s", async (_, stored, kept) => {
  const slow = newStore({ leaseTime: 1 });
  const quick = newStore();
  await slow.set("k", { access_token: "old" });
  const late = slow.lock("k", async () => {
    await quick.lock("k", async () => {
      if (stored === null) await quick.delete("k");
      else if (stored !== undefined) await quick.set("k", { access_token: stored });
    });
    await slow.set("k", { access_token: "late" });
  });
  if (stored === undefined) await late;
  else await expect(late).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
  expect((await quick.get("k"))?.["access_token"]).toBe(kept);
  await slow.lock("k", async () => slow.set("k", { access_token: "last" }));
  expect(await quick.get("k")).toEqual({ access_token: "last" });
});

it("DocumentTokenStore rejects a damaged document without showing it", async () => {
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

it("DocumentTokenStore rejects a lease time that is not a number", () => {
  expect(() => newStore({ leaseTime: Number.NaN })).toThrow(
    expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
  );
});
