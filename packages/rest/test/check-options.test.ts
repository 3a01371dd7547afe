import { isFetchworkError } from "@fetchwork/kit";
import { describe, expect, it } from "vitest";
import { createAttemptLimiter } from "../src/attempt-limiter.ts";
import { createAuthentication } from "../src/accounts/create-authentication.ts";
import { createSessionTokens } from "../src/session-tokens.ts";
import { defineUser } from "../src/accounts/users/define-user.ts";
import { createClient } from "../src/client/create-client.ts";
import { noAccounts } from "./api-client.ts";

const secret = "s".repeat(32);
const accounts = { byId: async () => undefined, byEmail: async () => undefined };
const keys = { masterKey: "m".repeat(32), jwtSecret: secret, accounts };

/** Calls with an option that does not exist, as programs without types make them. */
const calls: Readonly<Record<string, readonly [(wrong: object) => unknown, string, string]>> = {
  createAuthentication: [
    (wrong) => createAuthentication({ ...keys, ...wrong }),
    "tokenLifeTime",
    "tokenLifetime",
  ],
  createSessionTokens: [
    (wrong) => createSessionTokens({ secret, ...wrong }),
    "lifeTime",
    "lifetime",
  ],
  createAttemptLimiter: [(wrong) => createAttemptLimiter({ ...wrong }), "firstdelay", "firstDelay"],
  createClient: [
    (wrong) => createClient({ baseUrl: "https://blog.example", ...wrong }),
    "baseURL",
    "baseUrl",
  ],
};

describe("an option that does not exist", () => {
  it.each(Object.entries(calls))("is refused by %s, which names the one meant", (name, call) => {
    const [make, wrong, meant] = call;
    let thrown: unknown;
    try {
      make({ [wrong]: 1 });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TypeError);
    expect(isFetchworkError(thrown)).toBe(true);
    expect(thrown).toMatchObject({
      code: "ERR_REST_CONFIGURATION",
      message: `${name} has no option "${wrong}", did you mean "${meant}"?`,
    });
  });
});

it("an option that does not exist is refused by defineUser, which names the one meant", () => {
  const wrong: object = { feilds: {} };
  expect(() => defineUser(wrong)).toThrow(
    'defineUser has no option "feilds", did you mean "fields"?',
  );
});

describe("the master key", () => {
  it("is recognized wherever a token may be, and nothing else is", () => {
    const { isMaster } = noAccounts();
    const none = { authorization: null, queryTokens: [], bodyToken: undefined };
    const { masterKey } = keys;
    expect(isMaster({ ...none, authorization: `Bearer ${masterKey}` })).toBe(true);
    expect(isMaster({ ...none, queryTokens: [masterKey] })).toBe(true);
    expect(isMaster({ ...none, bodyToken: masterKey })).toBe(true);
    for (const wrong of ["", "m", `${masterKey}m`, "n".repeat(32)]) {
      expect(isMaster({ ...none, bodyToken: wrong })).toBe(false);
    }
    expect(isMaster(none)).toBe(false);
  });
});
