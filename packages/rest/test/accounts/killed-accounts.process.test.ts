import { join } from "node:path";
import { administer, openStore } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../documents/test/temporary-folder.ts";
import { accounts } from "../../src/accounts/accounts.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import type { Answer } from "../as-users.ts";
import { type AccountsServer, runAccountsServer } from "./run-accounts-server.ts";

const rounds = Number(process.env["FETCHWORK_KILL_ROUNDS"] ?? 10);
const clients = 5;
const link = "http://localhost/page";

/** What a client of a killed process knows. */
interface Known {
  readonly email: string;
  /** The password that was acknowledged last, and the one that was sent without an answer. */
  password: string;
  nextPassword?: string | undefined;
  /** Absent until a 201 said that the user was created. */
  id?: string;
  /** The token that was acknowledged last; absent while there is no session. */
  refreshToken?: string | undefined;
  /** How far the removal of the user is. */
  removal?: "sent" | "done";
  /** How far an open sign-up is; absent where the master key created the user. */
  signUp?: "sent" | "confirming" | "confirmed";
  /** The token of the mail that confirms a sign-up, once it came. */
  mailed?: string | undefined;
}

it(
  `a process that is killed under load keeps each account whole, ${rounds} times`,
  {
    timeout: 60_000 + rounds * 30_000,
  },
  async () => {
    const url = `sqlite:${join(temporaryFolder(), "store.db")}`;
    let server = await runAccountsServer(url);
    onTestFinished(() => server.kill());
    for (let round = 0; round < rounds; round += 1) {
      const left = await loadUntilKilled(server, round);
      server = await runAccountsServer(url);
      for (const one of left) {
        await (one.signUp === undefined ? checkAccount(server, one) : checkSignUp(server, one));
      }
    }
    await server.kill();
    await checkStore(url);
  },
);

/**
 * Has clients create users, sign up and confirm their address, sign in, refresh and reset
 * passwords, and kills the process in the middle.
 */
async function loadUntilKilled(server: AccountsServer, round: number): Promise<readonly Known[]> {
  const all: Known[] = [];
  const root = `root.${round}@example.com`;
  await server.create(root, "of root", "admin");
  const { token } = (await server.signIn(root, "of root")).json;
  let calls = 20 + Math.floor(Math.random() * 80);
  const isDead = new Error("the process was killed");
  /** Sends a request and requires its status; what is killed before it answers ends the client. */
  async function sent(status: number, sending: Promise<Answer>): Promise<Answer> {
    if ((calls -= 1) === 0) void server.kill();
    const answer = await sending.catch(() => {
      throw isDead;
    });
    expect([answer.status, answer.json?.detail]).toEqual([status, undefined]);
    return answer;
  }

  async function signUp(one: Known): Promise<void> {
    const { email, password } = one;
    one.signUp = "sent";
    await sent(202, server.send("POST", "/users", { json: { email, password, link } }));
    one.mailed = await mailTo(server, email, isDead);
    one.signUp = "confirming";
    await sent(200, server.send("PUT", `/email-changes/${one.mailed}`, { json: { password } }));
    one.signUp = "confirmed";
  }

  async function work(client: number): Promise<never> {
    for (let turn = 0; ; turn += 1) {
      const email = `user.${round}.${client}.${turn}@example.com`;
      const one: Known = { email, password: `first ${turn}` };
      all.push(one);
      if ((turn + client) % 3 === 0) {
        await signUp(one);
        continue;
      }
      one.id = (await sent(201, server.create(email, one.password))).json.id;
      one.refreshToken = (await sent(201, server.signIn(email, one.password))).json.refreshToken;
      for (let count = 0; count < 3; count += 1) {
        const refreshed = await sent(200, server.refresh(one.refreshToken ?? ""));
        one.refreshToken = refreshed.json.refreshToken;
      }
      if (turn % 3 === 1) continue;
      if (turn % 3 === 2) {
        one.removal = "sent";
        await sent(204, server.send("DELETE", `/users/${one.id}`, { token }));
        one.removal = "done";
        continue;
      }
      await sent(202, server.send("POST", "/password-resets", { json: { email, link } }));
      const reset = await mailTo(server, email, isDead);
      one.nextPassword = `second ${turn}`;
      const json = { password: one.nextPassword };
      await sent(200, server.send("PUT", `/password-resets/${reset}`, { json }));
      one.password = one.nextPassword;
      one.nextPassword = undefined;
      one.refreshToken = undefined;
    }
  }

  const ended = await Promise.allSettled(Array.from({ length: clients }, (_, one) => work(one)));
  for (const one of ended) expect(one).toEqual({ status: "rejected", reason: isDead });
  await server.kill();
  return all;
}

/** Waits for a mail, unless the process is killed before. */
async function mailTo({ hasEnded, mails }: AccountsServer, to: string, isDead: Error) {
  while (!mails.has(to)) {
    if (hasEnded()) throw isDead;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return mails.get(to);
}

/** Holds what a client knows against what the store has kept. */
async function checkAccount(server: AccountsServer, one: Known): Promise<void> {
  const { email, id, nextPassword, password, refreshToken, removal } = one;
  const created = await server.create(email, password);
  expect([201, 409]).toContain(created.status);
  if (removal === "done") expect([email, created.status]).toEqual([email, 201]);
  if (removal !== undefined && created.status === 201) {
    expect((await server.refresh(refreshToken ?? "")).status).toBe(401);
    return;
  }
  if (id !== undefined) expect([email, created.status]).toEqual([email, 409]);
  const signedIn = await server.signIn(email, password);
  const isReset = nextPassword !== undefined && signedIn.status === 401;
  const current = isReset ? await server.signIn(email, nextPassword) : signedIn;
  expect([email, current.status]).toEqual([email, 201]);
  expect(current.json.user.id).toBe(id ?? current.json.user.id);
  if (refreshToken === undefined) return;
  // Within 30 seconds an acknowledged token yields its successor, which may have been made without
  // an answer.
  const refreshed = await server.refresh(refreshToken);
  expect([email, refreshed.status]).toEqual([email, isReset ? 401 : 200]);
  if (isReset) return;
  const next = await server.refresh(refreshed.json.refreshToken);
  expect([email, next.status]).toEqual([email, 200]);
  const me = await server.send("GET", "/users/me", { token: next.json.token });
  expect([me.status, me.json.email]).toEqual([200, email]);
}

/**
 * Holds what a client knows of its sign-up against what the store has kept: what was not confirmed
 * can be asked for again, nothing is confirmed without its mail, and no mail confirms twice.
 */
async function checkSignUp(server: AccountsServer, one: Known): Promise<void> {
  const { email, mailed, password, signUp } = one;
  const { status } = await server.signIn(email, password);
  const expected = { sent: [401], confirming: [201, 401], confirmed: [201] }[signUp ?? "sent"];
  expect([email, signUp, expected]).toEqual([email, signUp, expect.arrayContaining([status])]);
  const used = status === 201 ? mailed : await askAgain(server, one);
  for (const token of [mailed, used]) {
    if (token === undefined) continue;
    const again = await server.send("PUT", `/email-changes/${token}`, { json: { password } });
    expect([email, again.status]).toEqual([email, 404]);
  }
  expect([email, (await server.signIn(email, password)).status]).toEqual([email, 201]);
}

/** Signs up again, and confirms it with the mail that comes. Returns its token. */
async function askAgain(server: AccountsServer, { email, password }: Known): Promise<string> {
  const json = { email, password, link };
  expect((await server.send("POST", "/users", { json })).status).toBe(202);
  const deadline = Date.now() + 20_000;
  for (let tried = ""; Date.now() < deadline;) {
    const token = server.mails.get(email) ?? "";
    if (token === tried) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    tried = token;
    const answer = await server.send("PUT", `/email-changes/${token}`, { json: { password } });
    if (answer.status === 200) return token;
    // A mail that waited when the process was killed may have come before: it is of the former
    // sign-up.
    expect([email, answer.status]).toEqual([email, 404]);
  }
  return expect.fail(`no mail to ${email} confirms it`);
}

/** Finds damage, and documents of users who are not there. */
async function checkStore(url: string): Promise<void> {
  const user = defineUser();
  const account = accounts({ user });
  const collections = [user.collection, ...account.collections, ...Object.values(jobCollections)];
  const store = await openStore(url, { collections });
  onTestFinished(() => store.close());
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  const users = store.collection(user.collection);
  for (const collection of account.collections) {
    for await (const document of store.collection(collection).stream()) {
      const owner: unknown = Reflect.get(document, "user");
      if (typeof owner !== "string") continue;
      expect([collection.name, (await users.get(owner))?.id]).toEqual([collection.name, owner]);
    }
  }
}
