import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  OAuth2Client,
  OAuth2Error,
  OAuth2UsageError,
  type OAuth2Response,
  snakeCase,
  snakyHashClass,
  type TokenOptions,
  type TokenParams,
} from "../src/index.ts";
import {
  startScriptedServer,
  json,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from "./scripted-server.ts";

const folder = process.env["FETCHWORK_VECTORS"] ?? join(import.meta.dirname, "vectors");
const now = 1_800_000_000;

interface Hash {
  readonly [key: string]: unknown;
}

interface Wire {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly host: string;
}

interface Input {
  readonly client?: {
    readonly id?: string;
    readonly secret?: string | null;
    readonly options?: Hash;
  };
  readonly op: string;
  readonly grant?: string;
  readonly params?: Hash;
  readonly tokenOptions?: Hash;
  readonly server?: readonly ScriptedAnswer[];
  readonly token?: Hash;
  readonly verb?: string;
  readonly path?: string;
  readonly opts?: Hash;
  readonly code?: string;
  readonly username?: string;
  readonly password?: string;
  readonly claims?: Hash;
  readonly encoding?: { readonly algorithm: string; readonly key: string; readonly kid?: string };
  readonly value?: string;
  readonly hint?: "access_token" | "refresh_token";
  readonly hash?: Hash;
  readonly options?: Hash;
  readonly form?: string;
}

interface Case {
  readonly name: string;
  readonly input: Input;
  readonly gem: {
    readonly result?: unknown;
    readonly error?: {
      readonly class: string;
      readonly code?: unknown;
      readonly description?: unknown;
    };
    readonly wire?: readonly Wire[];
  };
  readonly policy: "same" | "fix" | "choice";
}

/** What one of ours did. */
interface Outcome {
  readonly result: unknown;
  readonly error: unknown;
  readonly seen: readonly SeenRequest[];
}

const seen: SeenRequest[] = [];
let base: ScriptedServer;
let base2: ScriptedServer;
beforeAll(async () => {
  base = await startScriptedServer("BASE", seen);
  base2 = await startScriptedServer(
    "BASE2",
    seen,
    json({ access_token: "EVIL", token_type: "bearer" }),
  );
});
afterAll(async () => {
  await base[Symbol.asyncDispose]();
  await base2[Symbol.asyncDispose]();
});
beforeEach(() => {
  seen.length = 0;
});

function camel(options: Hash = {}): Hash {
  const names = Object.entries(options).filter(([, value]) => value !== null);
  return Object.fromEntries(
    names.map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, char: string) => char.toUpperCase()),
      value,
    ]),
  );
}

/** Names of how a call is made, among parameters with wire names. */
function paramsOf({ token_method, ...params }: Hash = {}): TokenParams {
  // A string of the vectors.
  return token_method === undefined ? params : { ...params, tokenMethod: token_method as "post" };
}

const optionNames = new Set([
  "mode",
  "header_format",
  "param_name",
  "token_name",
  "expires_latency",
]);

function tokenOptionsOf(options: Hash = {}): TokenOptions {
  const entries = Object.entries(options).map(([key, value]) =>
    optionNames.has(key) ? Object.entries(camel({ [key]: value ?? undefined })) : [[key, value]],
  );
  return Object.fromEntries(entries.flat());
}

function clientOf({ client = {} }: Input): OAuth2Client {
  const options = { site: base.origin, clock: () => now * 1000, ...camel(client.options) };
  if (client.options?.["site"] === null) Reflect.deleteProperty(options, "site");
  const quiet = { debug: () => {} };
  const { id = "abc", secret = "def" } = client;
  return new OAuth2Client(id, secret, { logger: quiet, ...options });
}

function describeToken(token: AccessToken): unknown {
  return {
    token: token.token,
    refresh_token: token.refreshToken ?? null,
    expires_in: token.expiresIn ?? null,
    expires_at: token.expiresAt ?? null,
    expired: token.expired(),
    extra: plain(token.params),
  };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function perform(input: Input): Promise<unknown> {
  if (input.op === "fromHash") {
    const token = AccessToken.fromHash(
      clientOf(input),
      input.hash ?? {},
      tokenOptionsOf(input.options),
    );
    return { token: describeToken(token), to_hash: token.toHash() };
  }
  const client = clientOf(input);
  const params = input.params ?? {};
  switch (input.op) {
    case "authorizeUrl":
      if (input.grant === "authCode") return client.authCode.authorizeUrl(params);
      return input.grant === "implicit"
        ? client.implicit.authorizeUrl(params)
        : client.authorizeUrl(params);
    case "tokenUrl":
      return client.tokenUrl(params);
    case "revokeUrl":
      return client.revokeUrl(params);
    case "fromKvform":
      return describeToken(AccessToken.fromKvform(client, input.form ?? ""));
    case "getToken":
      return describeToken(await requestToken(client, input));
    case "refresh":
      return describeToken(
        await AccessToken.fromHash(client, input.token ?? {}).refresh(paramsOf(params)),
      );
    case "revoke":
      return (await revoke(client, input)).status;
    case "request":
      return describeResponse(await request(client, input));
    default:
      throw new Error(`unknown operation ${input.op}`);
  }
}

function requestToken(client: OAuth2Client, input: Input): Promise<AccessToken> {
  const params = paramsOf(input.params);
  const options = tokenOptionsOf(input.tokenOptions);
  switch (input.grant) {
    case "clientCredentials":
      return client.clientCredentials.getToken(params, options);
    case "authCode":
      return client.authCode.getToken(input.code ?? "", params, options);
    case "password":
      return client.password.getToken(input.username ?? "", input.password ?? "", params, options);
    case "assertion":
      return client.assertion.getToken(
        input.claims ?? {},
        input.encoding ?? { algorithm: "", key: "" },
        params,
        options,
      );
    default:
      return client.getToken(params, options);
  }
}

function revoke(client: OAuth2Client, input: Input): Promise<OAuth2Response> {
  const params = paramsOf(input.params);
  return input.token === undefined
    ? client.revokeToken(input.value ?? "", input.hint, params)
    : AccessToken.fromHash(client, input.token).revoke(params);
}

function request(client: OAuth2Client, input: Input): Promise<OAuth2Response> {
  const { verb = "get", path = "", opts = {} } = input;
  return input.token === undefined
    ? client.request(verb, path, opts)
    : AccessToken.fromHash(client, input.token).request(verb, path, opts);
}

function describeResponse(response: OAuth2Response): unknown {
  return {
    status: response.status,
    body: response.body,
    content_type: response.contentType,
    parsed: response.body === "" ? null : plain(response.parsed),
  };
}

async function run(input: Input): Promise<Outcome> {
  base.script = input.server ?? [];
  try {
    return { result: await perform(input), error: undefined, seen: [...seen] };
  } catch (error) {
    return { result: undefined, error, seen: [...seen] };
  }
}

/** A URL with its query as a sorted list, since the order means nothing. */
function comparable(url: unknown): unknown {
  if (typeof url !== "string" || !/^https?:/.test(url)) return url;
  const { origin, pathname, searchParams, hash } = new URL(url);
  return { origin, pathname, hash, query: sorted(searchParams) };
}

function sorted(pairs: Iterable<readonly [string, string]>): readonly string[] {
  return Array.from(pairs, ([name, value]) => `${name}=${value}`).toSorted();
}

function comparableWire(wire: Wire | SeenRequest): unknown {
  const { pathname, searchParams } = new URL(wire.target, "http://host");
  const type = wire.headers["content-type"]?.split(";")[0];
  const form = type === "application/x-www-form-urlencoded";
  const named = Object.entries(wire.headers).filter(
    ([name]) => name === "authorization" || name.startsWith("x-"),
  );
  return {
    host: wire.host,
    method: wire.method,
    path: pathname,
    query: sorted(searchParams),
    headers: { ...Object.fromEntries(named), type },
    body: form ? sorted(new URLSearchParams(wire.body ?? "")) : (wire.body ?? ""),
  };
}

function expectSame(test: Case, outcome: Outcome): void {
  const { gem } = test;
  if (gem.error === undefined) {
    expect(outcome.error).toBeUndefined();
    expect(comparable(outcome.result)).toEqual(comparable(gem.result));
  } else {
    expect(outcome.error).toBeInstanceOf(Error);
    const { error } = outcome;
    if (!(error instanceof OAuth2UsageError)) {
      if (!(error instanceof OAuth2Error)) throw error;
      // Our own codes stand where the gem's own errors have none.
      const own = error.code?.startsWith("ERR_OAUTH_");
      expect(own ? null : (error.code ?? null)).toEqual(gem.error.code ?? null);
      expect(error.description ?? null).toEqual(gem.error.description ?? null);
    }
  }
  if (gem.wire !== undefined) {
    expect(outcome.seen.map(comparableWire)).toEqual(gem.wire.map(comparableWire));
  }
}

type Check = (outcome: Outcome, test: Case) => void | Promise<void>;

const failsWith =
  (code: string, requests?: number): Check =>
  ({ error, seen: requestsSeen }) => {
    expect(error).toMatchObject({ code });
    if (requests !== undefined) expect(requestsSeen).toHaveLength(requests);
  };

const queryOf = (url: unknown): URLSearchParams => new URL(String(url)).searchParams;
const bodyOf = (outcome: Outcome): URLSearchParams => new URLSearchParams(outcome.seen[0]?.body);

/** What `want` asks for, by file and name. */
const wanted: Readonly<Record<string, Check>> = {
  "authorize-url/array value": ({ result }) => {
    expect(queryOf(result).getAll("resource")).toEqual(["https://a", "https://b"]);
    expect(queryOf(result).has("resource[]")).toBe(false);
  },
  "authorize-url/configured redirect_uri vs per-call": ({ result }) => {
    expect(queryOf(result).getAll("redirect_uri")).toEqual(["https://other/cb"]);
  },
  "errors/nested error object": ({ error }) => {
    expect(error).toMatchObject({ code: undefined, response: { status: 400 } });
    expect(error instanceof OAuth2Error && error.response?.body).toContain('"message":"m"');
  },
  "errors/malformed json": ({ error }) => {
    expect(error).toBeInstanceOf(OAuth2Error);
    expect(error).toMatchObject({ status: 500, code: undefined });
  },
  "errors/raise_errors false on client": (outcome, test) => expectSame(test, outcome),
  "expiry/junk string": ({ result }) => {
    expect(result).toMatchObject({ token: "A", expires_in: null, expires_at: null });
  },
  "expiry/number prefix": ({ result }) => {
    expect(result).toMatchObject({ expires_in: 3600, expires_at: now + 3600 });
  },
  "expiry/huge": ({ result }) => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(result).toMatchObject({ expires_in: most, expires_at: most, expired: false });
  },
  "expiry/expires_at space date": ({ result }) => {
    expect(result).toMatchObject({ expires_at: 2_000_000_000, expired: false });
  },
  "expiry/latency no expiry": ({ result }) => {
    expect(result).toMatchObject({ token: { expires_at: null, expired: false } });
  },
  'url-resolution/site=https://e.org/a/b authorize_url="oauth/z#frag"': ({ result }) => {
    expect(result).toBe("https://e.org/a/b/oauth/z");
  },
  'url-resolution/site=https://u:p@e.org/a authorize_url="o"': failsWith("ERR_OAUTH_OPTION"),
  'url-resolution/site=HTTPS://E.ORG/a authorize_url="o"': ({ result }) => {
    expect(result).toBe("https://e.org/a/o");
  },
  "redirects/cross origin query token": ({ result, seen: requests }) => {
    expect(result).toMatchObject({ status: 200 });
    expect(requests.map(({ host, target }) => [host, target])).toEqual([
      ["BASE", "/a?access_token=T"],
      ["BASE2", "/x"],
    ]);
    expect(requests[1]?.headers["authorization"]).toBeUndefined();
  },
  "redirects/ftp location": failsWith("ERR_OAUTH_REDIRECT", 1),
  "redirects/token endpoint 307 cross origin": failsWith("ERR_OAUTH_REDIRECT", 1),
  "refresh/extra fields of the old token are not carried": ({ result }) => {
    expect(result).toMatchObject({ token: "A2", refresh_token: "R0", extra: { scope: "s" } });
  },
  "response-parse/application/vnd.github+json": ({ result }) => {
    expect(result).toMatchObject({
      parsed: { access_token: "a", nested: { inner_key: [{ deep_key: 1 }] }, x_y_z: 1 },
    });
  },
  "response-parse/no content type": ({ result }) => {
    expect(result).toMatchObject({ parsed: "x", content_type: "" });
  },
  "response-parse/xml": ({ result }) => {
    expect(result).toMatchObject({ parsed: "<a><bC>1</bC></a>" });
  },
  "response-parse/whitespace": ({ result }) => expect(result).toMatchObject({ parsed: "  " }),
  "response-parse/BOM": ({ result }) => expect(result).toMatchObject({ parsed: { a: 1 } }),
  "revoke/default hint access_token": (outcome) => {
    expect(outcome.seen).toMatchObject([{ method: "POST", target: "/oauth/revoke" }]);
    expect(sorted(bodyOf(outcome))).toEqual(["token=A", "token_type_hint=access_token"]);
  },
  "serialization/kvform leading #": ({ result }) => expect(result).toMatchObject({ token: "a" }),
  "serialization/kvform duplicate token": failsWith("ERR_OAUTH_RESPONSE"),
  "token-request/basic reserved characters": ({ seen: [first] }) => {
    const credentials = Buffer.from("a%3Ab+c:p%25%2B%2F+").toString("base64");
    expect(first?.headers["authorization"]).toBe(`Basic ${credentials}`);
  },
  "token-request/assertion unknown alg": failsWith("ERR_OAUTH_OPTION", 0),
  "token-request/token_method get + body auth leaks secret in URL": (outcome, test) => {
    expectSame(test, outcome);
  },
  "token-request/per-call token_method get": ({ seen: requests }) => {
    expect(requests).toMatchObject([
      { method: "GET", target: "/oauth/token?grant_type=x", body: "" },
    ]);
  },
  "token-request/json content type lower-case header name": ({ seen: [first] }) => {
    expect(first?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(first?.body ?? "")).toEqual({ grant_type: "client_credentials" });
  },
  "token-request/array params": (outcome) => {
    expect(bodyOf(outcome).getAll("resource")).toEqual(["https://a", "https://b"]);
  },
  "token-response/object token": failsWith("ERR_OAUTH_RESPONSE"),
  "token-response/token with CRLF": failsWith("ERR_OAUTH_RESPONSE"),
  "token-response/token_name null": ({ result }) => expect(result).toMatchObject({ token: "A" }),
  "token-response/form encoded duplicate access_token": failsWith("ERR_OAUTH_RESPONSE"),
  "token-response/invalid json 500": ({ error }) => {
    expect(error).toBeInstanceOf(OAuth2Error);
    expect(error).toMatchObject({ status: 500 });
  },
  "token-response/server-sent client options": ({ result }) => {
    expect(result).toMatchObject({
      expires_at: now + 100,
      extra: { mode: "query", param_name: "x", header_format: "Evil %s", expires_latency: 5 },
    });
  },
  "transport/body JSON string": failsWith("ERR_OAUTH_OPTION", 0),
  "transport/network-path reference": failsWith("ERR_OAUTH_TARGET", 0),
};

/**
 * Cases whose policy is `same`, and which decision 1A.5 settles another way: the latency counts when `expired()` is
 * asked, and never changes `expiresAt`. The moment at which the token expires must be the same.
 */
const latency: Readonly<Record<string, number>> = {
  "expiry/latency from expires_in": 10,
  "expiry/latency larger than expires_in": 10,
};

function expectLatency(test: Case, seconds: number): void {
  const { token: theirs } = test.gem.result as { readonly token: { readonly expires_at: number } };
  const token = AccessToken.fromHash(clientOf(test.input), test.input.hash ?? {});
  expect(token.expiresAt).toBe(theirs.expires_at + seconds);
  expect(token.expired(theirs.expires_at - 1)).toBe(false);
  expect(token.expired(theirs.expires_at)).toBe(true);
  expect(token.toHash()).toMatchObject({ expires_latency: seconds, expires_at: token.expiresAt });
}

function fill(test: Case): Case {
  const text = JSON.stringify(test);
  return JSON.parse(
    text.replaceAll("{BASE2}", base2.origin).replaceAll("{BASE}", base.origin),
  ) as Case;
}

const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
it("finds all vectors", () => {
  expect(files.length).toBeGreaterThanOrEqual(13);
});

describe.each(files.filter((file) => file !== "snake-case.json"))("vectors of %s", (file) => {
  const { cases } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
    readonly cases: readonly Case[];
  };
  it.each(cases.map((test) => [test.name, test.policy, test] as const))(
    "%s (%s)",
    async (name, policy, raw) => {
      const key = `${file.replace(".json", "")}/${name}`;
      const test = fill(raw);
      if (latency[key] !== undefined) {
        expectLatency(test, latency[key]);
        return;
      }
      const outcome = await run(test.input);
      if (policy === "same") {
        expectSame(test, outcome);
        return;
      }
      const check = wanted[key];
      if (check === undefined) throw new Error(`no check is written for what ${key} wants`);
      await check(outcome, test);
    },
  );
});

describe("vectors of snake-case.json", () => {
  const { cases } = JSON.parse(readFileSync(join(folder, "snake-case.json"), "utf8")) as {
    readonly cases: readonly {
      readonly name: string;
      readonly input: string | object;
      readonly gem: unknown;
    }[];
  };
  it.each(cases.map((test) => [test.name, test] as const))("%s", (_, { input, gem }) => {
    const result =
      typeof input === "string" ? snakeCase(input) : plain(snakyHashClass().from(input));
    expect(result).toEqual(gem);
  });
});

it("signs assertions that another implementation accepts", async () => {
  const key = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";
  const client = new OAuth2Client("abc", "def", { site: base.origin });
  await client.assertion.getToken([{ iss: "i", aud: "a", exp: now }, "HS256", key]);
  const assertion = new URLSearchParams(seen[0]?.body).get("assertion") ?? "";
  const { payload } = await jwtVerify(assertion, new TextEncoder().encode(key), {
    audience: "a",
    currentDate: new Date((now - 1) * 1000),
  });
  expect(payload).toEqual({ iss: "i", aud: "a", exp: now });
});
