import { describe, expect, it } from "vitest";
import type { Credentials } from "../../src/access-token.ts";
import type { AccessRule } from "../../src/access.ts";
import type { Account } from "../../src/account.ts";
import {
  type AuthenticationOptions,
  createAuthentication,
} from "../../src/accounts/create-authentication.ts";
import { createSessionTokens } from "../../src/session-tokens.ts";
import { hashPassword } from "../../src/accounts/password.ts";
import { RestError } from "../../src/errors.ts";
import { Problem } from "../../src/problem.ts";

const masterKey = "m".repeat(32);
const jwtSecret = "j".repeat(32);
const noAccounts = { byId: async () => undefined, byEmail: async () => undefined };

describe("an authentication", () => {
  it.each<[string, Partial<AuthenticationOptions>]>([
    ["a short master key", { masterKey: "m".repeat(31) }],
    ["a short secret", { jwtSecret: "j".repeat(31) }],
    ["the same one twice", { jwtSecret: masterKey }],
    ["a lifetime of nothing", { tokenLifetime: 0 }],
  ])("is refused with %s", (_what, options) => {
    const all = { masterKey, jwtSecret, accounts: noAccounts, ...options };
    expect(() => createAuthentication(all)).toThrow(RestError);
  });
});

const passwordHash = await hashPassword("right");
const ann = { id: "ann", role: "user", passwordHash, sessionVersion: 2 };
const root = { ...ann, id: "root", role: "admin" };
const known: readonly Account[] = [ann, root];

const authentication = createAuthentication({
  masterKey,
  jwtSecret,
  accounts: {
    byId: async (id) => known.find((one) => one.id === id),
    byEmail: async (email) => known.find(({ id }) => `${id}@example.com` === email),
  },
});
const { tokens } = authentication;
const foreign = createSessionTokens({ secret: "f".repeat(32) });

const bearer = (token: string): Credentials => ({
  authorization: `Bearer ${token}`,
  queryTokens: [],
  bodyToken: undefined,
});
const basic = (user: string, password: string, token?: string): Credentials => ({
  authorization: `Basic ${btoa(`${user}@example.com:${password}`)}`,
  queryTokens: [],
  bodyToken: token,
});

/** Who asks, by what they show. */
const callers: Readonly<Record<string, Credentials>> = {
  nobody: { authorization: null, queryTokens: [], bodyToken: undefined },
  user: bearer(await tokens.issue(ann)),
  admin: bearer(await tokens.issue(root)),
  master: bearer(masterKey),
  foreign: bearer(await foreign.issue(root)),
  "signed out": bearer(await tokens.issue({ ...root, sessionVersion: 1 })),
  deleted: bearer(await tokens.issue({ ...root, id: "gone" })),
  "right password": basic("ann", "right"),
  "wrong password": basic("ann", "wrong"),
  "no such user": basic("eve", "right"),
  "master and password": basic("ann", "right", masterKey),
  "master and wrong password": basic("ann", "wrong", masterKey),
  "token and password": basic("ann", "right", await tokens.issue(root)),
};

/** What comes of it under the rules public, user, admin, master, password, master+password. */
const matrix: Readonly<Record<string, readonly (number | string)[]>> = {
  nobody: ["nobody", 401, 401, 401, 401, 401],
  user: ["ann", "ann", 403, 403, 401, 403],
  admin: ["root", "root", "root", 403, 401, 403],
  master: ["nobody", 401, 401, "nobody", 401, 401],
  foreign: ["nobody", 401, 401, 401, 401, 401],
  "signed out": ["nobody", 401, 401, 401, 401, 401],
  deleted: ["nobody", 401, 401, 401, 401, 401],
  "right password": ["nobody", 401, 401, 401, "ann", 401],
  "wrong password": ["nobody", 401, 401, 401, 401, 401],
  "no such user": ["nobody", 401, 401, 401, 401, 401],
  "master and password": ["nobody", 401, 401, "nobody", "ann", "ann"],
  "master and wrong password": ["nobody", 401, 401, "nobody", 401, 401],
  "token and password": ["root", "root", "root", 403, "ann", 403],
};
const rules = [
  "public",
  "user",
  "admin",
  "master",
  "password",
  "master+password",
] as const satisfies readonly AccessRule[];

describe("authenticate", () => {
  it.each(Object.keys(matrix))("follows the table for %s", async (caller) => {
    const found: (number | string)[] = [];
    for (const rule of rules) {
      const credentials = callers[caller] ?? expect.fail("no such caller");
      const authenticate = async (): Promise<Account | undefined> =>
        authentication.authenticate(rule, credentials);
      found.push(
        await authenticate().then(
          (one) => one?.id ?? "nobody",
          (error: unknown) => {
            expect(error).toBeInstanceOf(Problem);
            const { headers, status } = error as Problem;
            const asked = rule.endsWith("password") ? /^(?:Basic|Bearer) / : /^Bearer /;
            if (status === 401) expect(headers["www-authenticate"]).toMatch(asked);
            return status;
          },
        ),
      );
    }
    expect(found).toEqual(matrix[caller]);
  });
});
