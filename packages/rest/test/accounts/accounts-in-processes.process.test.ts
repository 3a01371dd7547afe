import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  noPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../documents/test/postgres-server.ts";
import { totpCode, totpStep } from "../../src/accounts/second-factor/totp.ts";
import type { Answer } from "../as-users.ts";
import { type AccountsServer, runAccountsServer } from "./run-accounts-server.ts";
import { unbase32 } from "./unbase32.ts";

const password = "123456";
const link = "http://localhost/page";

/** Calls each process so often at once. */
async function atOnce(
  count: number,
  call: (server: AccountsServer) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const calls = servers.flatMap((server) => Array.from({ length: count }, () => call(server)));
  return Promise.all(calls);
}

let postgres: PostgresServer | undefined;
let servers: readonly AccountsServer[] = [];

/** Starts the processes, each with a store of its connections to one database. */
async function startProcesses(): Promise<void> {
  postgres = await startPostgres();
  const url = await postgres.create();
  // The first one makes the tables.
  const first = await runAccountsServer(url);
  servers = [first, ...(await Promise.all([1, 2, 3, 4].map(() => runAccountsServer(url))))];
}

async function stopProcesses(): Promise<void> {
  await Promise.all(servers.map(({ kill }) => kill()));
  await postgres?.stop();
}

function firstServer(): AccountsServer {
  return servers[0] ?? expect.fail();
}

/** Creates a user for a test. */
async function join(email: string): Promise<AccountsServer> {
  expect((await firstServer().create(email, password)).status).toBe(201);
  return firstServer();
}

/** Waits for a mail of any of the processes. */
async function mailTo(address: string): Promise<string> {
  const tokens = () => servers.flatMap(({ mails }) => mails.get(address) ?? []);
  await expect.poll(tokens, { timeout: 20_000 }).not.toEqual([]);
  return tokens()[0] ?? "";
}

const taken = (answers: readonly Answer[]): readonly number[] =>
  answers.map(({ status }) => status).filter((status) => status < 300);

describe.skipIf(noPostgres)("five processes on PostgreSQL", () => {
  beforeAll(startProcesses, 120_000);
  afterAll(stopProcesses);

  it("keep all signed in who refresh at once, and end the session of a stolen token", async () => {
    const email = "stolen@example.com";
    const first = await join(email);
    const signedIn = (await first.signIn(email, password)).json;
    const other = (await first.signIn(email, password)).json;
    let { refreshToken } = signedIn;
    const tokens: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const answers = await atOnce(20, (server) => server.refresh(refreshToken));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ json }) => json.refreshToken)).size).toBe(1);
      refreshToken = answers[0]?.json.refreshToken;
      tokens.push(...answers.map(({ json }) => json.token));
    }
    const ask = (token: string) =>
      Promise.all(servers.map((server) => server.send("GET", "/users/me", { token })));
    const sessions = async () =>
      (await first.send("GET", "/users/me/sessions", { token: other.token })).json;
    expect(await sessions()).toHaveLength(2);
    expect(taken(await ask(tokens.at(-1) ?? ""))).toHaveLength(5);
    const thief = servers[3] ?? expect.fail();
    expect((await thief.refresh(signedIn.refreshToken)).status).toBe(401);
    for (const token of [tokens[0] ?? "", tokens.at(-1) ?? ""]) {
      expect(taken(await ask(token))).toEqual([]);
    }
    expect(taken(await atOnce(1, (one) => one.refresh(refreshToken)))).toEqual([]);
    expect(taken(await ask(other.token))).toHaveLength(5);
    expect(await sessions()).toHaveLength(1);
  });

  it("refresh no session that another one ends", async () => {
    const email = "ended@example.com";
    const first = await join(email);
    for (let round = 0; round < 5; round += 1) {
      const { refreshToken, token } = (await first.signIn(email, password)).json;
      const [out, ...answers] = await Promise.all([
        first.send("DELETE", "/auth", { token }),
        ...servers.map((server) => server.refresh(refreshToken)),
      ]);
      expect(out.status).toBe(204);
      for (const { json, status } of answers) {
        expect([200, 401]).toContain(status);
        if (status !== 200) continue;
        const me = await atOnce(1, (one) => one.send("GET", "/users/me", { token: json.token }));
        expect(taken(me)).toEqual([]);
      }
    }
  });

  it("take a mailed token once, for a password and for an address", async () => {
    const email = "mailed@example.com";
    const first = await join(email);
    await first.send("POST", "/password-resets", { json: { email, link } });
    const reset = `/password-resets/${await mailTo(email)}`;
    const json = { password: "another one" };
    const resets = await atOnce(2, (one) => one.send("PUT", reset, { json }));
    expect(taken(resets)).toEqual([200]);
    expect(new Set(resets.map(({ status }) => status))).toEqual(new Set([200, 404]));
    const basic = [email, json.password] as const;
    const address = "new@example.com";
    await first.send("POST", "/users/me/email", { basic, json: { email: address, link } });
    const change = `/email-changes/${await mailTo(address)}`;
    const changes = await atOnce(2, (one) => one.send("PUT", change, { json: {} }));
    expect(taken(changes)).toEqual([200]);
    expect(new Set(changes.map(({ status }) => status))).toEqual(new Set([200, 404]));
  });

  it("take a code of the second factor once, and a recovery code once", async () => {
    const email = "codes@example.com";
    const first = await join(email);
    const basic = [email, password] as const;
    const begun = await first.send("POST", "/users/me/totp", { basic });
    const codeOf = (shift: number) =>
      totpCode(unbase32(begun.json.secret), totpStep(Date.now()) + shift);
    const confirm = { basic, json: { totp: codeOf(0) } };
    const confirmed = await atOnce(1, (one) => one.send("POST", "/users/me/totp", confirm));
    expect(taken(confirmed)).toEqual([200]);
    const [recovery] = confirmed.find(({ status }) => status === 200)?.json.recoveryCodes ?? [];
    for (const code of [codeOf(1), recovery]) {
      const answers = await atOnce(2, (one) => one.signIn(email, password, code));
      expect(taken(answers)).toEqual([201]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 401]));
    }
  });
});
