import type { Store, Stored } from "@fetchwork/documents";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AccountsContext } from "../../src/accounts/accounts-context.ts";
import { findToken, issueToken, passwordResets } from "../../src/accounts/mails/mailed-tokens.ts";
import { resetPassword } from "../../src/accounts/mails/use-token.ts";
import { hashPassword, verifyPassword } from "../../src/accounts/password.ts";
import { defineUser, type StoredUser } from "../../src/accounts/users/define-user.ts";
import { openAccounts } from "./open-accounts.ts";

const { collection: users } = defineUser();

afterEach(() => void vi.useRealTimers());

interface Opened {
  readonly context: AccountsContext;
  readonly store: Store;
  readonly user: Stored<StoredUser>;
}

async function storeWithUser(): Promise<Opened> {
  const { context, store } = await openAccounts();
  const passwordHash = await hashPassword("the old one");
  const user = await store
    .collection(users)
    .insert({ email: "ada@example.com", role: "user", passwordHash, sessionVersion: 3 });
  return { context, store, user };
}

async function find({ context, store }: Opened, token: string) {
  return (await findToken(context, store, passwordResets, token))?.user;
}

describe("a password reset", () => {
  it.each(["", "x", "a".repeat(42), "a".repeat(44), "a".repeat(43), `${"a".repeat(42)}/`, "../x"])(
    "finds nobody for the token %j",
    async (token) => {
      const opened = await storeWithUser();
      const { context, store, user } = opened;
      await issueToken(context, passwordResets, user);
      expect(await find(opened, token)).toBeUndefined();
      expect(await resetPassword(context, token, "the new one")).toBeUndefined();
      expect(await store.collection(users).get(user.id)).toEqual(user);
    },
  );

  it("makes tokens of 256 bits that the store does not have", async () => {
    const { context, store, user } = await storeWithUser();
    const tokens = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      tokens.add(await issueToken(context, passwordResets, user));
    }
    expect(tokens.size).toBe(20);
    const kept = JSON.stringify(await store.collection(passwordResets.collection).find());
    for (const token of tokens) {
      expect(Buffer.from(token, "base64url")).toHaveLength(32);
      expect(kept).not.toContain(token);
    }
    expect(kept).not.toContain("argon2");
  });

  it("does not take what the store has for a token", async () => {
    const opened = await storeWithUser();
    const { context, store, user } = opened;
    await issueToken(context, passwordResets, user);
    const [kept] = await store.collection(passwordResets.collection).find();
    for (const text of [kept?.id, kept?.access, kept?.user]) {
      expect(await find(opened, String(text))).toBeUndefined();
    }
  });

  it("finds the user until the token expires, to the millisecond", async () => {
    const opened = await storeWithUser();
    const { context, user } = opened;
    vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
    const token = await issueToken(context, passwordResets, user);
    vi.advanceTimersByTime(3_599_999);
    expect((await find(opened, token))?.id).toBe(user.id);
    vi.advanceTimersByTime(1);
    expect(await find(opened, token)).toBeUndefined();
    expect(await resetPassword(context, token, "the new one")).toBeUndefined();
  });

  it("sets the password, ends the sessions and uses up all resets of the user alone", async () => {
    const opened = await storeWithUser();
    const { context, store, user } = opened;
    const other = await store
      .collection(users)
      .insert({ email: "bob@example.com", role: "user", passwordHash: "", sessionVersion: 1 });
    const [first, second, others] = [
      await issueToken(context, passwordResets, user),
      await issueToken(context, passwordResets, user),
      await issueToken(context, passwordResets, other),
    ];
    const changed = await resetPassword(context, second, "the new one");
    expect(changed).toMatchObject({ id: user.id, sessionVersion: 4, email: "ada@example.com" });
    expect(await verifyPassword("the new one", changed?.passwordHash)).toBe(true);
    expect(await find(opened, first)).toBeUndefined();
    expect(await find(opened, second)).toBeUndefined();
    expect((await find(opened, others))?.id).toBe(other.id);
  });

  it("lets one of many win who use tokens of one user at the same time", async () => {
    const { context, store, user } = await storeWithUser();
    const tokens = [
      await issueToken(context, passwordResets, user),
      await issueToken(context, passwordResets, user),
    ];
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        resetPassword(context, tokens[index % 2] ?? "", `password ${index}`),
      ),
    );
    expect(all.filter((changed) => changed !== undefined)).toHaveLength(1);
    const stored = await store.collection(users).get(user.id);
    expect(stored?.sessionVersion).toBe(4);
    const winner = all.findIndex((changed) => changed !== undefined);
    expect(await verifyPassword(`password ${winner}`, stored?.passwordHash)).toBe(true);
  });

  it("ends with another password, however it came, and with the user", async () => {
    const opened = await storeWithUser();
    const { context, store, user } = opened;
    const token = await issueToken(context, passwordResets, user);
    const passwordHash = await hashPassword("another one");
    await store.collection(users).update(user.id, { passwordHash });
    expect(await find(opened, token)).toBeUndefined();
    await store.collection(users).update(user.id, { passwordHash: user.passwordHash });
    expect((await find(opened, token))?.id).toBe(user.id);
    await store.collection(users).remove(user.id);
    expect(await find(opened, token)).toBeUndefined();
    expect(await resetPassword(context, token, "the new one")).toBeUndefined();
  });
});
