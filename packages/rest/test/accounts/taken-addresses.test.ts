import { administer, type Store, type Transaction } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import type { AccountMail, Mailer } from "../../src/accounts/mails/account-mails.ts";
import {
  emailChanges,
  issueToken,
  passwordResets,
} from "../../src/accounts/mails/mailed-tokens.ts";
import { resetPassword } from "../../src/accounts/mails/use-token.ts";
import { identityCollection } from "../../src/accounts/providers/identity.ts";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import { claimUser } from "../../src/accounts/users/claim-user.ts";
import { whileSignedIn } from "../../src/accounts/users/while-signed-in.ts";
import { apiKeyCollection } from "../../src/accounts/keys/api-key.ts";
import { passkeyCollection } from "../../src/accounts/passkeys/passkey.ts";
import { hashPassword } from "../../src/accounts/password.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password, type TestAccounts, type TestOptions } from "./open-accounts.ts";

const email = "ada@example.com";
const link = "https://app.example/page";

/**
 * Accounts on which somebody has made one with the address of somebody else, and every way in that
 * there is.
 */
async function openTaken(options: TestOptions = {}) {
  const api = await openAccounts(options);
  const thief = await api.join(email);
  const { token } = thief;
  const { json } = await api.send("POST", "/users/me/keys", {
    token,
    json: { name: "CI", scopes: ["*:read"] },
  });
  const passkey = { user: thief.id, name: "p", credential: "c", publicKey: "", counter: 0 };
  await api.store
    .collection(passkeyCollection)
    .insert({ ...passkey, transports: [], isBackedUp: false, usedAt: null });
  await issueToken(api.context, emailChanges, await stored(api, thief.id), "thief@example.com");
  return { api, thief, key: json.key as string };
}

async function stored({ context, store }: TestAccounts, id: string) {
  const found = await store.collection(context.user.collection).get(id);
  if (found === undefined) throw new Error("no such user");
  return found;
}

/** A store whose transactions fail at the last of what a user could sign in with: the links. */
function failingStore(store: Store): Store {
  return Object.assign(Object.create(store) as Store, {
    transaction: (work: (transaction: Transaction) => Promise<unknown>) =>
      store.transaction((transaction) =>
        work(
          Object.assign(Object.create(transaction) as Transaction, {
            collection(definition: typeof identityCollection) {
              if (definition === identityCollection) throw new Error("the store went away");
              return transaction.collection(definition);
            },
          }),
        ),
      ),
    collection: (definition: typeof identityCollection) => store.collection(definition),
  });
}

/** How many ways in are left to a thief. */
async function waysIn({ api, key, thief }: Awaited<ReturnType<typeof openTaken>>) {
  const refreshed = { json: { refreshToken: thief.refreshToken } };
  return [
    (await api.send("GET", "/users/me", { token: thief.token })).status,
    (await api.send("GET", "/users/me", { token: key })).status,
    (await api.send("POST", "/auth/refresh", refreshed)).status,
    (await api.signIn(email, { basic: [email, password] })).status,
    await api.store.collection(passkeyCollection).count(),
  ];
}

describe("an address that somebody else made an account with", () => {
  it("is that of its owner alone once a provider has verified it", async () => {
    const taken = await openTaken();
    const { api, thief } = taken;
    expect(await waysIn(taken)).toEqual([200, 200, 200, 201, 1]);
    const claimed = await claimUser(api.context, await stored(api, thief.id));
    expect(claimed).toMatchObject({ id: thief.id, email, verified: true });
    expect(await waysIn(taken)).toEqual([401, 401, 401, 401, 0]);
    expect(await api.store.collection(emailChanges.collection).count()).toBe(0);
  });

  it("is that of its owner alone once a password was reset", async () => {
    const taken = await openTaken();
    const { api, thief } = taken;
    const enrolled = await api.context.factors.enrol(await stored(api, thief.id), email);
    expect(enrolled).toBeDefined();
    const form = { email, link, access_token: masterKey };
    await api.send("POST", "/password-resets", { form });
    const { token } = await api.nextMail();
    const json = { password: "of the owner" };
    expect((await api.send("PUT", `/password-resets/${token}`, { json })).status).toBe(200);
    expect(await waysIn(taken)).toEqual([401, 401, 401, 401, 0]);
    expect(await api.store.collection(emailChanges.collection).count()).toBe(0);
    expect(await api.context.factors.remove(thief.id)).toBe(false);
    expect(await stored(api, thief.id)).toMatchObject({ verified: true });
    const own = await api.signIn(email, { basic: [email, json.password] });
    expect(own.status).toBe(201);
  });

  it("stays with its owner after that, whatever a provider says", async () => {
    const { api, thief } = await openTaken();
    const claimed = await claimUser(api.context, await stored(api, thief.id));
    expect(claimed && (await claimUser(api.context, claimed))).toEqual(claimed);
  });

  it("belongs to anyone who signs up and confirms it, without the ways in of the one before", async () => {
    const open: TestOptions = { signUp: "public", signIn: "public" };
    const api = await openAccounts(open);
    // Of a time when no mails were sent, so that the sign-in needed no confirmation.
    const users = api.store.collection(api.context.user.collection);
    const passwordHash = await hashPassword(password);
    const before = await users.insert({
      email,
      role: "user",
      passwordHash,
      sessionVersion: 1,
      unconfirmed: true,
    });
    const { key } = await api.context.keys.create(before, { name: "CI", scopes: ["*:read"] });
    const json = { email, password: "of the owner", link };
    expect((await api.send("POST", "/users", { json })).status).toBe(202);
    const { token } = await api.nextMail();
    const confirm = { json: { password: json.password } };
    expect((await api.send("PUT", `/email-changes/${token}`, confirm)).status).toBe(200);
    expect((await api.send("GET", "/users/me", { token: key })).status).toBe(401);
    expect(await stored(api, before.id)).toMatchObject({ verified: true });
  });
});

describe("what was begun with an account before it was given to its owner", () => {
  it("does not change its address afterwards, when the mail for it is late", async () => {
    let isAway = true;
    const mails: AccountMail[] = [];
    const mailer: Mailer = {
      async send(mail) {
        if (isAway) throw new Error("not now");
        mails.push(mail);
      },
    };
    const { api, thief } = await openTaken({ settings: { mailer } });
    const json = { email: "thief@example.com", link };
    const basic = [email, password] as const;
    expect((await api.send("POST", "/users/me/email", { basic, json })).status).toBe(202);
    await claimUser(api.context, await stored(api, thief.id));
    isAway = false;
    // The job is tried again after a second.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(mails).toEqual([]);
  });

  it("is not a session of somebody who signed in while it was given away", async () => {
    const taken = await openTaken();
    const { api, thief } = taken;
    const before = await stored(api, thief.id);
    const client = { address: undefined, agent: undefined, method: "passkey" } as const;
    await claimUser(api.context, before);
    await expect(api.context.sessions.begin(before, client)).rejects.toBeDefined();
    expect(await api.store.collection(sessionCollection).count()).toBe(0);
  });

  it("is not given away under another address than the one that was proved", async () => {
    const { api, thief } = await openTaken();
    const before = await stored(api, thief.id);
    const users = api.store.collection(api.context.user.collection);
    await users.update(thief.id, { email: "thief@example.com" });
    expect(await claimUser(api.context, before)).toBeUndefined();
    expect(await stored(api, thief.id)).not.toHaveProperty("verified");
  });

  it("stays as it was when forgetting fails in the middle", async () => {
    const taken = await openTaken();
    const { api, thief } = taken;
    const failing = { ...api.context, store: failingStore(api.store) };
    await expect(claimUser(failing, await stored(api, thief.id))).rejects.toThrow("went away");
    expect(await waysIn(taken)).toEqual([200, 200, 200, 201, 1]);
    const found = await stored(api, thief.id);
    const token = await issueToken(api.context, passwordResets, found);
    await expect(resetPassword(failing, token, "of the owner")).rejects.toThrow("went away");
    expect((await api.send("GET", `/password-resets/${token}`)).status).toBe(200);
    expect((await waysIn(taken)).at(-1)).toBe(1);
  });
});

describe("a password reset of a user whose address is verified", () => {
  it("ends sessions, keys and passkeys, and keeps the second factor", async () => {
    const taken = await openTaken();
    const { api, thief: ada } = taken;
    const users = api.store.collection(api.context.user.collection);
    await users.update(ada.id, { verified: true });
    await api.context.factors.enrol(await stored(api, ada.id), email);
    const token = await issueToken(api.context, passwordResets, await stored(api, ada.id));
    const json = { password: "another one" };
    expect((await api.send("PUT", `/password-resets/${token}`, { json })).status).toBe(200);
    expect(await waysIn(taken)).toEqual([401, 401, 401, 401, 0]);
    expect(await api.context.factors.remove(ada.id)).toBe(true);
  });
});

describe("a way in that was begun before the sessions of its user ended", () => {
  it("is not added after it", async () => {
    const { api, thief } = await openTaken();
    const before = await stored(api, thief.id);
    await claimUser(api.context, before);
    const wanted = { name: "CI", scopes: ["*:read"] };
    await expect(api.context.keys.create(before, wanted)).rejects.toMatchObject({ status: 401 });
    const adding = whileSignedIn(api.store, api.context.user, before, (transaction) =>
      transaction.collection(apiKeyCollection).get("none"),
    );
    await expect(adding).rejects.toMatchObject({ status: 401 });
    expect(await api.store.collection(apiKeyCollection).count()).toBe(0);
  });

  it("is not added by a transaction that has read the user before, on PostgreSQL", async ({
    skip,
  }) => {
    const { api, thief } = await openTaken();
    const { engine } = await administer(api.store).status();
    // On SQLite a transaction keeps others waiting.
    if (!/postgres/i.test(engine)) skip("the store is SQLite");
    const before = await stored(api, thief.id);
    const hasRead = Promise.withResolvers<void>();
    const isClaimed = Promise.withResolvers<void>();
    const adding = whileSignedIn(api.store, api.context.user, before, async (transaction) => {
      hasRead.resolve();
      await isClaimed.promise;
      const key = { user: thief.id, name: "k", scopes: ["*:read"], hash: "h", usedAt: null };
      await transaction.collection(apiKeyCollection).insert(key);
    });
    await hasRead.promise;
    await claimUser(api.context, before).finally(isClaimed.resolve);
    await expect(adding).rejects.toMatchObject({ status: 401 });
    expect(await api.store.collection(apiKeyCollection).count()).toBe(0);
  });

  it("is not a session for a password that was replaced while it was checked", async () => {
    const api = await openAccounts();
    const id = await api.create(email);
    const signingIn = api.signIn(email);
    // Checking a password takes longer than replacing it.
    const claiming = claimUser(api.context, await stored(api, id));
    const [signedIn] = await Promise.all([signingIn, claiming]);
    const { token } = signedIn.json;
    expect((await api.send("GET", "/users/me", { token })).status).toBe(401);
  });
});
