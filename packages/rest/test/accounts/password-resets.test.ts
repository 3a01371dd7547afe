import { defineCollection, type Store, type Stored } from "@fetchwork/documents";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createPasswordResets, type PasswordHolder } from "../../src/accounts/password-resets.ts";
import { hashPassword, verifyPassword } from "../../src/accounts/password.ts";
import { RestError } from "../../src/errors.ts";
import { memoryStore } from "../api-client.ts";

interface User extends PasswordHolder {
  readonly email: string;
}

const users = defineCollection<User>("users");
const resets = createPasswordResets({ users });

afterEach(() => void vi.useRealTimers());

async function storeWithUser(): Promise<{ readonly store: Store; readonly user: Stored<User> }> {
  const store = await memoryStore();
  const passwordHash = await hashPassword("the old one");
  const user = await store
    .collection(users)
    .insert({ email: "ada@example.com", passwordHash, sessionVersion: 3 });
  return { store, user };
}

describe("createPasswordResets", () => {
  it.each([0, -1, 1.5, Number.NaN, 86_401])("refuses the lifetime %j", (lifetime) => {
    expect(() => createPasswordResets({ users, lifetime })).toThrow(RestError);
  });

  it.each(["", "x", "a".repeat(42), "a".repeat(44), "a".repeat(43), `${"a".repeat(42)}/`, "../x"])(
    "finds nobody for the token %j",
    async (token) => {
      const { store, user } = await storeWithUser();
      await resets.issue(store, user);
      expect(await resets.find(store, token)).toBeUndefined();
      expect(await resets.use(store, token, "the new one")).toBeUndefined();
      expect(await store.collection(users).get(user.id)).toEqual(user);
    },
  );

  it("makes tokens of 256 bits that the store does not have", async () => {
    const { store, user } = await storeWithUser();
    const tokens = new Set<string>();
    for (let count = 0; count < 20; count += 1) tokens.add(await resets.issue(store, user));
    expect(tokens.size).toBe(20);
    const kept = JSON.stringify(await store.collection(resets.collection).find());
    for (const token of tokens) {
      expect(Buffer.from(token, "base64url")).toHaveLength(32);
      expect(kept).not.toContain(token);
    }
    expect(kept).not.toContain("argon2");
  });

  it("does not take what the store has for a token", async () => {
    const { store, user } = await storeWithUser();
    await resets.issue(store, user);
    const [kept] = await store.collection(resets.collection).find();
    for (const text of [kept?.id, kept?.password, kept?.user]) {
      expect(await resets.find(store, String(text))).toBeUndefined();
    }
  });

  it("finds the user until the token expires, to the millisecond", async () => {
    const { store, user } = await storeWithUser();
    const short = createPasswordResets({ users, lifetime: 10 });
    vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
    const token = await short.issue(store, user);
    vi.advanceTimersByTime(9_999);
    expect((await short.find(store, token))?.id).toBe(user.id);
    vi.advanceTimersByTime(1);
    expect(await short.find(store, token)).toBeUndefined();
    expect(await short.use(store, token, "the new one")).toBeUndefined();
  });

  it("sets the password, ends the sessions and uses up all resets of the user alone", async () => {
    const { store, user } = await storeWithUser();
    const other = await store
      .collection(users)
      .insert({ email: "bob@example.com", passwordHash: "", sessionVersion: 1 });
    const [first, second, others] = [
      await resets.issue(store, user),
      await resets.issue(store, user),
      await resets.issue(store, other),
    ];
    const changed = await resets.use(store, second, "the new one");
    expect(changed).toMatchObject({ id: user.id, sessionVersion: 4, email: "ada@example.com" });
    expect(await verifyPassword("the new one", String(changed?.["passwordHash"]))).toBe(true);
    expect(await resets.find(store, first)).toBeUndefined();
    expect(await resets.find(store, second)).toBeUndefined();
    expect((await resets.find(store, others))?.id).toBe(other.id);
  });

  it("lets one of many win who use tokens of one user at the same time", async () => {
    const { store, user } = await storeWithUser();
    const tokens = [await resets.issue(store, user), await resets.issue(store, user)];
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        resets.use(store, tokens[index % 2] ?? "", `password ${index}`),
      ),
    );
    expect(all.filter((changed) => changed !== undefined)).toHaveLength(1);
    const stored = await store.collection(users).get(user.id);
    expect(stored?.["sessionVersion"]).toBe(4);
    const winner = all.findIndex((changed) => changed !== undefined);
    expect(await verifyPassword(`password ${winner}`, String(stored?.["passwordHash"]))).toBe(true);
  });

  it("ends with another password, however it came, and with the user", async () => {
    const { store, user } = await storeWithUser();
    const token = await resets.issue(store, user);
    const passwordHash = await hashPassword("another one");
    await store.collection(users).update(user.id, { passwordHash });
    expect(await resets.find(store, token)).toBeUndefined();
    await store.collection(users).update(user.id, { passwordHash: user["passwordHash"] });
    expect((await resets.find(store, token))?.id).toBe(user.id);
    await store.collection(users).remove(user.id);
    expect(await resets.find(store, token)).toBeUndefined();
    expect(await resets.use(store, token, "the new one")).toBeUndefined();
  });
});
