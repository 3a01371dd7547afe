import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessToken, OAuth2Client } from "../src/index.ts";
import { judgeCase } from "./judge-case.ts";
import {
  CaseRunner,
  ownVectors,
  readVectors,
  vectorFolder,
  type Input,
  type VectorCase,
} from "./vector-case.ts";

let runner: CaseRunner;
beforeAll(async () => {
  runner = await CaseRunner.start();
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
});

async function replay(raw: VectorCase): Promise<void> {
  const test = runner.fill(raw);
  judgeCase(test, await runner.run(test));
}

const token = { token: "A", refresh_token: null, expires_in: null, expires_at: null };

/** A token request whose response has this body, which the repository has no case of. */
function answered(body: unknown, type = "application/json"): Input {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const server = [{ status: 200, headers: { "Content-Type": type }, body: text }];
  return { op: "getToken", grant: "clientCredentials", server };
}

function requested(body: string, status = 200, type = "application/json"): Input {
  const server = [{ status, headers: { "Content-Type": type }, body }];
  return { op: "request", verb: "get", path: "/r", opts: {}, server };
}

const never = { result: { ...token, expired: false, extra: {} } };
const refused = { error: { class: "OAuth2::Error" } };

/** Made-up cases, whose want ours meets, and another want that it does not meet. */
const rows: readonly (readonly [
  name: string,
  input: Input,
  gem: VectorCase["gem"],
  want: unknown,
  wrong: unknown,
])[] = [
  [
    "a text that is not a lifetime",
    answered({ access_token: "A", expires_in: "x" }),
    never,
    "fail closed",
    "never expires",
  ],
  [
    "a description with its words",
    requested('{"error":"e1","error_description":"x"}', 400),
    refused,
    'code must be "e1", no crash',
    'code must be "e2"',
  ],
  ["a token of digits", answered({ access_token: 5 }), never, 'the text "5"', 'the text "6"'],
  [
    "a form as text/plain",
    answered("access_token=A", "text/plain"),
    refused,
    "accept; go/oauth2 takes it",
    "error",
  ],
  [
    "JSON without a type",
    answered({ access_token: "A" }, ""),
    refused,
    "accept",
    "invalid_response error",
  ],
  [
    "milliseconds",
    answered({ access_token: "A", expires_at: 1_799_999_000_000 }),
    never,
    "above 1e11 = ms",
    "never expires",
  ],
  [
    "text that is not a time",
    answered({ access_token: "A", expires_at: "x" }),
    never,
    "expired or an error",
    "never expires",
  ],
  [
    "a lifetime of true",
    answered({ access_token: "A", expires_in: true }),
    refused,
    "error",
    "accept",
  ],
  ["a lifetime as text", answered({ access_token: "A", expires_in: "60 s" }), never, "60", "61"],
  [
    "a date with a blank",
    answered({ access_token: "A", expires_at: "2034-01-02 03:04:05" }),
    never,
    "parse or error",
    "ignore the field",
  ],
  [
    "a huge lifetime",
    answered({ access_token: "A", expires_in: 1e30 }),
    never,
    "clamp to a safe integer",
    "3600",
  ],
  [
    "an empty list as token",
    answered({ access_token: [] }),
    never,
    "invalid_response error",
    "accept",
  ],
  ["a token with NUL", answered({ access_token: "A\u0000" }), never, "reject at parse", "accept"],
  [
    "an error with status 200",
    answered({ error: "bad_code" }),
    refused,
    "OAuth error of the body",
    "status 500",
  ],
  [
    "options of the server",
    answered({ access_token: "A", mode: "body" }),
    never,
    "must never set mode; keep them as extra fields",
    "error",
  ],
  [
    "a JWT type",
    requested('{"aB":1}', 200, "application/jwk-set+json"),
    never,
    "+json is parsed as JSON; gem: nil",
    "body string",
  ],
  [
    "an unknown type",
    requested('{"aB":1}', 200, "image/x"),
    never,
    "spec rule 3: body string; gem: nil",
    "strip BOM",
  ],
  [
    "an error that is a list",
    requested('{"error":["x"]}', 400),
    refused,
    "code stays undefined, body available",
    'code is "x"',
  ],
  [
    "a failed body",
    requested("<", 502),
    refused,
    "OAuth2Error, status 502",
    "OAuth2Error, status 500",
  ],
  [
    "a redirect with a token in the query",
    {
      op: "request",
      verb: "get",
      path: "/r",
      token: { access_token: "T", mode: "query" },
      server: [{ status: 301, headers: { Location: "{BASE2}/y" }, body: "" }],
    },
    never,
    "token must not be sent to the other origin",
    "must stay on site host",
  ],
  [
    "a list of audiences",
    { op: "authorizeUrl", grant: "authCode", params: { audience: ["a", "b"] } },
    {
      result:
        "{BASE}/oauth/authorize?audience%5B%5D=a&audience%5B%5D=b&client_id=abc&response_type=code",
    },
    "repeat the key (RFC 8693), no [] suffix",
    "same",
  ],
  [
    "a list in a query",
    {
      op: "request",
      verb: "get",
      path: "/r",
      token: { access_token: "T" },
      opts: { params: { a: [1, 2] } },
      server: [{ status: 200, headers: { "Content-Type": "application/json" }, body: "[1]" }],
    },
    {
      result: { status: 200, body: "[1]", content_type: "application/json", parsed: [1] },
      wire: [
        {
          method: "GET",
          target: "/r?a%5B%5D=1&a%5B%5D=2",
          headers: { authorization: "Bearer T" },
          body: null,
          host: "BASE",
        },
      ],
    },
    "repeat the key; gem: a[]",
    "same",
  ],
  [
    "the scope of a call",
    {
      op: "authorizeUrl",
      grant: "authCode",
      client: { options: { redirect_uri: "https://a/1" } },
      params: { redirect_uri: "https://a/2" },
    },
    { result: "{BASE}/oauth/authorize?client_id=abc&redirect_uri=https%3A%2F%2Fa%2F1" },
    "per-call value wins; gem sends the configured one",
    "same",
  ],
  [
    "a fragment of another endpoint",
    { op: "tokenUrl", client: { options: { token_url: "/t#x" } } },
    { result: "{BASE}/t#x" },
    "drop the fragment",
    "same",
  ],
  [
    "a refresh that names no scope",
    {
      op: "refresh",
      token: { access_token: "A", refresh_token: "R", scope: "s" },
      server: [
        {
          status: 200,
          headers: { "Content-Type": "application/json" },
          body: '{"access_token":"B"}',
        },
      ],
    },
    { result: { ...token, token: "B", refresh_token: "R", expired: false, extra: {} } },
    "omitted scope means unchanged; carry scope",
    "error",
  ],
  [
    "a callback with a question mark",
    { op: "fromKvform", form: "?access_token=a" },
    refused,
    "strip one leading # or ?",
    "error",
  ],
  [
    "Basic credentials with a colon",
    { op: "getToken", grant: "clientCredentials", client: { id: "x:y", secret: "&=" } },
    never,
    "form-urlencode id and secret before base64; keep a loose option",
    "error; no request",
  ],
  [
    "a want in the form of a record",
    answered({ access_token: "A", expires_in: 60 }),
    refused,
    { result: { ...token, expires_in: 60, expires_at: 1_800_000_060, expired: false, extra: {} } },
    { result: { ...token, expires_in: 60, expires_at: 1_800_000_061, expired: false, extra: {} } },
  ],
  ["a want that is a number", answered({ access_token: "A", expires_in: 77 }), never, 77, 78],
];

describe("cases that the repository has never seen", () => {
  const cases = rows.map(([name, input, gem, want, wrong]) => {
    const test = { name, input, gem, policy: "choice" } as const;
    return [name, { ...test, want }, { ...test, want: wrong }] as const;
  });

  it.each(cases)("are judged by their want: %s", async (_name, test) => {
    await replay(test);
  });

  it.each(cases)("fail when their want is another one: %s", async (_name, _test, wrong) => {
    await expect(replay(wrong)).rejects.toThrow();
  });

  it("fail when their want cannot be read, or is not there", async () => {
    const input = answered({ access_token: "A" });
    const test = { name: "x", input, gem: never, policy: "fix" } as const;
    await expect(replay({ ...test, want: "make it purple" })).rejects.toThrow(
      'no rule of judge-want.ts can read "make it purple"',
    );
    await expect(replay({ ...test, want: "gem: nil" })).rejects.toThrow("no rule");
    await expect(replay(test)).rejects.toThrow("the case has no want");
  });

  it("fail when they want a repair and ours does what the gem does", async () => {
    const input = answered({ access_token: "A", expires_in: 60 });
    const result = {
      ...token,
      expires_in: 60,
      expires_at: 1_800_000_060,
      expired: false,
      extra: {},
    };
    const test = { name: "x", input, gem: { result }, want: "60" };
    await replay({ ...test, policy: "choice" });
    await expect(replay({ ...test, policy: "fix" })).rejects.toThrow(
      "ours does what is to be fixed",
    );
  });

  it("are judged by the same result where nothing else is wanted, and fail when it differs", async () => {
    const input = answered({ access_token: "A", expires_in: 9 });
    const result = {
      ...token,
      expires_in: 9,
      expires_at: 1_800_000_009,
      expired: false,
      extra: {},
    };
    await replay({ name: "x", input, gem: { result }, policy: "same" });
    for (const change of [
      { token: "B" },
      { expires_at: 1 },
      { expired: true },
      { extra: { a: 1 } },
    ]) {
      const gem = { result: { ...result, ...change } };
      await expect(replay({ name: "x", input, gem, policy: "same" })).rejects.toThrow();
    }
  });

  it("expire at the recorded moment where a latency is stored, and fail at another", async () => {
    const input = {
      op: "fromHash",
      hash: { access_token: "A", expires_in: 50, expires_latency: 7 },
    };
    const stored = {
      access_token: "A",
      refresh_token: null,
      expires_at: 1_800_000_043,
      mode: "header",
      header_format: "Bearer %s",
      param_name: "access_token",
    };
    const recorded = (at: number): VectorCase["gem"] => ({
      result: {
        token: { ...token, expires_in: 50, expires_at: at, expired: false, extra: {} },
        to_hash: { ...stored, expires_at: at },
      },
    });
    await replay({ name: "x", input, gem: recorded(1_800_000_043), policy: "same" });
    const wrong = { name: "x", input, gem: recorded(1_800_000_044), policy: "same" } as const;
    await expect(replay(wrong)).rejects.toThrow();
  });
});

describe("recorded cases", () => {
  const cases = readVectors(ownVectors).flatMap((file) =>
    file.name === "snake-case" ? [] : file.cases.filter(({ policy }) => policy !== "same"),
  );

  it.each(cases.map((test) => [test.name, test] as const))(
    "fail when their want is turned around: %s",
    async (_name, test) => {
      const filled = runner.fill(test);
      const { error } = await runner.run(filled);
      const opposite = error === undefined ? "error" : "no error";
      await expect(replay({ ...test, want: opposite })).rejects.toThrow();
      await expect(replay({ ...test, want: '"another value"' })).rejects.toThrow();
      await expect(replay({ ...test, want: { result: "another" } })).rejects.toThrow();
    },
  );
});

describe("the folder of FETCHWORK_VECTORS", () => {
  it("has the cases in a folder oauth2, or is that folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "vectors-"));
    try {
      const test = { name: "made up", input: answered({}), gem: refused, policy: "same" };
      expect(vectorFolder(folder)).toBe(folder);
      await mkdir(join(folder, "oauth2"));
      await writeFile(join(folder, "oauth2", "own.json"), JSON.stringify({ cases: [test] }));
      expect(vectorFolder(folder)).toBe(join(folder, "oauth2"));
      const [file] = readVectors(vectorFolder(folder));
      expect(file).toMatchObject({ name: "own", cases: [test] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("a case that our decisions settle otherwise", () => {
  it("is judged by the decision: an empty token, an error without raiseErrors, numbers of an error, an encoded address", async () => {
    const empty = { ...token, token: "", refresh_token: "R", expired: false, extra: {} };
    const to_hash = AccessToken.fromHash(new OAuth2Client("id"), { refresh_token: "R" }).toHash();
    const refusal = {
      status: 401,
      headers: { "Content-Type": "application/json" },
      body: '{"error":5,"error_description":7}',
    };
    const without = {
      token: { ...empty, refresh_token: null, extra: { x: 1 } },
      to_hash: { ...to_hash, refresh_token: null, x: 1 },
    };
    const failing: Input = { op: "getToken", grant: "clientCredentials", server: [refusal] };
    const silent = { ...failing, client: { options: { raise_errors: false } } };
    const cases: readonly VectorCase[] = [
      {
        name: "only a refresh token",
        policy: "same",
        input: { op: "fromHash", hash: { refresh_token: "R" } },
        gem: { result: { token: empty, to_hash } },
      },
      {
        name: "neither token nor refresh token",
        policy: "same",
        input: {
          op: "fromHash",
          client: { options: { raise_errors: false } },
          hash: { x: 1 },
        },
        gem: { result: without },
      },
      {
        name: "a token_name that is missing",
        policy: "same",
        input: {
          op: "fromHash",
          hash: { foo: "bar", refresh_token: "R" },
          options: { token_name: "own" },
        },
        gem: {
          result: {
            token: { ...empty, extra: { foo: "bar" } },
            to_hash: { ...to_hash, foo: "bar", token_name: "own" },
          },
        },
      },
      ...[null, "null", "null; gem: nil"].map((want): VectorCase => ({
        name: "a list that is not thrown",
        policy: "choice",
        input: { ...answered([{ access_token: "A" }]), client: silent.client },
        gem: { result: null },
        want,
      })),
      {
        name: "a 401 that is not thrown",
        policy: "choice",
        input: silent,
        gem: { result: null },
        want: "null or result with error, never an empty token",
      },
      {
        name: "an address with a blank to follow",
        policy: "choice",
        input: {
          ...requested("", 302),
          server: [
            { status: 302, headers: { Location: "/b c" }, body: "" },
            { status: 200, headers: {}, body: "x" },
          ],
        },
        gem: refused,
        want: "OAuth2Error",
      },
      {
        name: "numbers",
        policy: "fix",
        input: failing,
        gem: refused,
        want: "stringify",
      },
    ];
    for (const each of cases) await replay(each);
    const other = { token: { ...empty, refresh_token: "R2" }, to_hash };
    const [first] = cases;
    await expect(replay({ ...first, gem: { result: other } } as VectorCase)).rejects.toThrow();
  });

  it("is not judged so where an address to follow is none at all", async () => {
    const moved = { status: 302, headers: { Location: "http://[" }, body: "" };
    const input: Input = { ...requested("", 302), server: [moved] };
    const test: VectorCase = { name: "no address", policy: "choice", input, gem: refused };
    await replay({ ...test, want: "OAuth2Error" });
  });
});
