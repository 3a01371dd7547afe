import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeCase } from "./judge-case.ts";
import { CaseRunner, type Input, type VectorCase } from "./vector-case.ts";

let runner: CaseRunner;
beforeAll(async () => {
  runner = await CaseRunner.start();
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
});

async function judge(raw: VectorCase): Promise<void> {
  const test = runner.fill(raw);
  judgeCase(test, await runner.run(test));
}

function replay(input: Input, want: string): Promise<void> {
  const gem = { error: { class: "OAuth2::Error" } };
  return judge({ name: "made up", input, gem, policy: "choice", want });
}

function answered(body: string, more: Partial<Input> = {}): Input {
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const server = [{ status: 200, headers: { "Content-Type": type }, body }];
  return { op: "getToken", grant: "clientCredentials", server, ...more };
}

function requested(more: Partial<Input>): Input {
  const server = [{ status: 200, headers: {}, body: "x" }];
  return { op: "request", verb: "get", path: "/r", opts: {}, server, ...more };
}

function moved(location: string, status: number): NonNullable<Input["server"]> {
  const [end = { status: 200, headers: {}, body: "" }] = requested({}).server ?? [];
  return [{ status, headers: { Location: location }, body: "" }, end];
}

const old = { access_token: "A", refresh_token: "R" };

/** A refresh whose response says that the token lives for 100 seconds. */
function refreshed(more: Partial<Input>): Input {
  return answered('{"access_token":"B","expires_in":100}', { op: "refresh", token: old, ...more });
}

/** A token that is sent in the body, where the caller has one. */
function appended(body: string): Input {
  const token = { access_token: "to k/%+&", mode: "body" };
  return requested({ verb: "post", token, opts: { body } });
}

const good = '{"access_token":"A"}';
const cookies = { headers: { Cookie: "session=0123456789" } };

/** Wants in several words each, all of which ours meets, and one that it does not meet. */
const rows: readonly (readonly [
  name: string,
  input: Input,
  wants: readonly string[],
  wrong: string,
])[] = [
  [
    "an empty lifetime",
    answered("access_token=A&expires_in="),
    ["as absent", "treat as absent", "counts as missing", "never expires"],
    "expired",
  ],
  [
    "an empty expiry",
    answered('{"access_token":"A","expires_at":""}'),
    ["as absent (RFC 6749 5.1)", "treated as not given"],
    "fail closed",
  ],
  [
    "an empty refresh token",
    { op: "refresh", token: { access_token: "A", refresh_token: "" } },
    ["as absent", "error before any request", "treat as missing: error"],
    "accept",
  ],
  [
    "a parameter of a URL without a value",
    { op: "authorizeUrl", params: { scope: null } },
    ["omit", "omitted", "leave it out", "skip null", "omit the parameter; gem: empty"],
    "/x",
  ],
  [
    "a parameter of a form without a value",
    answered(good, { params: { audience: null } }),
    ["not sent", "drop nil", "omit null values"],
    "error",
  ],
  [
    "an error that is not to be thrown",
    requested({
      opts: { raise_errors: false },
      server: [{ status: 404, headers: {}, body: "none" }],
    }),
    ["no throw", "do not raise", "response with error", "honour the option of the call"],
    "error, status 404",
  ],
  [
    "a permanent redirect of a POST",
    requested({ verb: "post", opts: { body: "a=1" }, server: moved("/there", 308) }),
    ["follow, same method and body", "keep the body", "/there", "repeat the method"],
    "/elsewhere",
  ],
  [
    "a relative redirect",
    requested({ path: "/a/b", server: moved("c?d=1", 302) }),
    ["follow", "resolve against the request URL", "resolved", "/a/c?d=1"],
    "/c?d=1",
  ],
  [
    "a cookie and another origin",
    requested({ opts: cookies, server: moved("{BASE2}/r", 302) }),
    ["drop Cookie", "Cookie must be dropped", "cookies are not sent", "strip the Cookie header"],
    "must stay on site host",
  ],
  [
    "a cookie and the same origin",
    requested({ opts: cookies, server: moved("/s", 302) }),
    ["follow", "must stay on site host"],
    "drop Cookie",
  ],
  [
    "a path above the site",
    requested({ path: "../z" }),
    ["resolve like a browser", "/z", "resolve as URL"],
    "refuse",
  ],
  [
    "an absolute URL",
    requested({ path: "{BASE2}/there?a=1" }),
    ["allowed", "absolute URL wins", "unchanged", "sent there"],
    "must stay on site host",
  ],
  [
    "a body that is a string",
    requested({ verb: "post", opts: { body: "a=1&b" } }),
    ["as is", "sent unchanged", "string body as it is"],
    "error",
  ],
  [
    "a form with a semicolon",
    { op: "fromKvform", form: "access_token=A;x=1" },
    ["only & separates", "semicolon is part of the value"],
    '"A"',
  ],
  [
    "the name of an option in a response",
    answered('{"access_token":"A","token_name":"id_token","id_token":"I"}'),
    ["must not be an option", "ignored as option", "keep as extra field", "not an option"],
    '"I2"',
  ],
  [
    "a member with the name of the prototype",
    answered('{"access_token":"A","__proto__":{"polluted":1}}'),
    ["no prototype pollution", "must not change a prototype", "no pollution"],
    "error",
  ],
  [
    "Basic without a secret",
    answered(good, { client: { secret: null, options: { auth_scheme: "basic_auth" } } }),
    ["empty secret", "id and empty secret"],
    "no Authorization header",
  ],
  [
    "the name of an option in a response, with that of the call",
    answered('{"own":"A","token_name":"id_token","id_token":"I"}', {
      tokenOptions: { token_name: "own" },
    }),
    ["must never set tokenName; keep it as extra field", "ignored as option", '"A"'],
    "error",
  ],
  [
    "a latency of a token that is refreshed",
    refreshed({ token: { ...old, expires_latency: 10 } }),
    ["keep the latency", "carry expires_latency over", "latency must not be lost", "100"],
    "1800000090",
  ],
  [
    "a latency of the refresh",
    refreshed({ tokenOptions: { expires_latency: 10 } }),
    ["latency never changes expires_at", "apply the latency when expired is asked", "1800000100"],
    "1800000090",
  ],
  [
    "an option of a hash with keys that are strings",
    { op: "fromHash", hash: { access_token: "A", mode: "query" } },
    ["as option", "restored", "must round-trip", "string keys are options", "same as symbol keys"],
    "must not be an option",
  ],
  [
    "a mode of verbs in a hash",
    { op: "fromHash", hash: { access_token: "A", mode: { get: "query" }, param_name: "t" } },
    ["read as options", "is an option", "restore mode"],
    "keep as extra fields",
  ],
  [
    "a list in a query",
    requested({ opts: { params: { a: [1, 2], b: "x" } } }),
    ["a=1&a=2&b=x", "?a=1&a=2&b=x"],
    "a%5B%5D=1&a%5B%5D=2&b=x",
  ],
  [
    "a token in a body that is a string",
    appended("a=1"),
    [
      "append",
      "appended to the body string",
      "append, form-urlencoded",
      "token must be encoded",
      "a=1&access_token=to%20k%2F%25%2B%26",
    ],
    "as is",
  ],
  [
    "a public client",
    answered(good, { client: { secret: null } }),
    ["no Authorization header", "without authorization"],
    "empty secret",
  ],
];

describe("what a want says of requests and of empty values", () => {
  it.each(rows)("is read in any of its words: %s", async (_name, input, wants) => {
    for (const want of wants) await replay(input, want);
  });

  it.each(rows)("fails when it says something else: %s", async (_name, input, _wants, wrong) => {
    await expect(replay(input, wrong)).rejects.toThrow();
  });

  it.each([
    ["keep the latency", { token: old }],
    ["latency never changes expires_at", { token: { ...old, expires_latency: "x" } }],
    ["drop the latency", { token: { ...old, expires_latency: 10 } }],
    ["latency is not kept", { token: { ...old, expires_latency: 10 } }],
  ])("fails where the latency is another one: %s", async (want, more) => {
    await expect(replay(refreshed(more), want)).rejects.toThrow();
  });

  it("fails where a latency is to be repaired that ours has not", async () => {
    const test = (latency: number, expires_at: number): VectorCase => ({
      name: "made up",
      input: refreshed({ token: { ...old, expires_latency: latency } }),
      gem: {
        result: {
          token: "B",
          refresh_token: "R",
          expires_in: 100,
          expires_at,
          expired: false,
          extra: {},
        },
      },
      policy: "fix",
      want: "keep the latency",
    });
    await judge(test(10, 1_800_000_100));
    await expect(judge(test(0, 1_800_000_100))).rejects.toThrow("ours does what is to be fixed");
  });

  it("fails where no body is a string, and where a hash has no option", async () => {
    const hashBody: Input = { ...appended(""), opts: { body: { a: "1" } } };
    await expect(replay(hashBody, "append")).rejects.toThrow("no body that is a string");
    const plain = { op: "fromHash", hash: { access_token: "A" } };
    await expect(replay(plain, "restored")).rejects.toThrow("no option in a hash");
  });

  it.each(["as absent", "omit"])("fails where nothing is empty: %s", async (want) => {
    await expect(replay(answered(good), want)).rejects.toThrow("the case has no");
  });
});
