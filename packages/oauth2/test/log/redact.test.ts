import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessToken, OAuth2Client, type OAuth2ClientOptions } from "../../src/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";
import { redactText } from "../../src/log/redact.ts";

/** Every secret has this in it, and nothing else has. */
const canary = "CANARY";

/** What a program may write somewhere. */
function everything(value: unknown): string {
  const error = value instanceof Error ? value : undefined;
  const causes =
    error === undefined ? "" : `${error.message} ${error.stack} ${inspect(error.cause)}`;
  return `${inspect(value, { depth: 20 })} ${JSON.stringify(value)} ${String(value)} ${causes}`;
}

/** What a client shows of one exchange: its log, and the response or the error. */
async function sinksOf(
  respond: (request: Request) => Response | Promise<Response>,
  call: (client: OAuth2Client) => Promise<unknown>,
): Promise<string> {
  const lines: string[] = [];
  const client = new OAuth2Client("id", `${canary}-client`, {
    site: "https://server.example",
    debug: true,
    logger: { debug: (line) => void lines.push(line) },
    fetch: async (request) => respond(request),
  });
  const result = await call(client).catch((error: unknown) => error);
  expect(lines.length).toBeGreaterThan(0);
  return [...lines, everything(result), everything(client)].join("\n");
}

const tokenOf = (client: OAuth2Client, mode: "header" | "query" = "header"): AccessToken =>
  AccessToken.fromHash(client, { access_token: `${canary}-token-123` }, { mode });

/** Secrets of any kind that a URL can hold. */
const secrets = fc
  .tuple(fc.string({ maxLength: 8 }), fc.string({ unit: "grapheme", maxLength: 8 }))
  .map(([before, after]) => `${before}${canary}${after}`.toWellFormed());

const parameters = fc.constantFrom(
  "code",
  "access_token",
  "id_token",
  "state",
  "client_secret",
  "user[password]",
  "api_key",
  "session",
  "device_code",
  "refreshToken",
);
const members = fc.constantFrom(
  "access_token",
  "refreshToken",
  "password",
  "client_secret",
  "token",
);

const encode = encodeURIComponent;
/** Names that are not secret stand before the secret one, or nothing does. */
const before = fc.constantFrom("", "a=1&", "a=1&b=&", "scope=x%20y&");

const urls = fc
  .tuple(
    fc.constantFrom(
      "https://app.example/cb?",
      "https://app.example/cb#",
      "https://app.example/#/route?",
      "com.example.app:/cb?",
      "http://localhost:3000/?",
      "/cb?",
      "?",
      "//app.example/cb?x=%zz&",
    ),
    before,
    parameters,
    secrets,
  )
  .map(([start, first, name, secret]) => `${start}${first}${name}=${encode(secret)}`);
const nested = urls.map((url) => `https://app.example/login?next=${encode(url)}&x=1`);
const userInfo = secrets.map((secret) => `https://user:${encode(secret)}@app.example/path`);
const anyUrl = fc.oneof(urls, nested, userInfo);

describe("redaction", () => {
  it("hides secrets in every URL of a header and of a body, in every sink", async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, fc.constantFrom(200, 302, 400), async (url, status) => {
        const location = new URL(url, "https://server.example").href;
        const headers = { location, link: `<${location}>; rel="next", <${location}>; rel="x"` };
        const shapes = [
          JSON.stringify({ next: url, list: [{ deep: `see ${url}, then` }] }),
          `Error: ${url}`,
          `<a href="${url}">x</a> and (${url})`,
          `url=${url}`,
        ];
        for (const body of shapes) {
          const respond = (): Response => new Response(body, { status, headers });
          const shown = await sinksOf(respond, (client) =>
            client.request("get", "/r", { maxRedirects: 0 }),
          );
          expect(shown).not.toContain(canary);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("hides secret members of JSON in all depths, and forms in text, in every sink", async () => {
    await fc.assert(
      fc.asyncProperty(members, parameters, secrets, async (member, parameter, secret) => {
        const shapes = [
          JSON.stringify({ a: [{ [member]: secret, b: { [member]: [secret] } }] }),
          JSON.stringify([JSON.stringify({ [member]: secret })]),
          JSON.stringify({ [member]: secret }).slice(0, -1),
          `Error: ${parameter}=${encode(secret)}`,
          `Error: a=1, ${parameter}=${encode(secret)}; b=2`,
          `bad request ${parameter}=${encode(secret)}&a=1`,
        ];
        for (const body of shapes) {
          for (const status of [200, 400]) {
            const respond = (): Response => new Response(body, { status });
            const shown = await sinksOf(respond, (client) => client.request("get", "/r"));
            expect(shown).not.toContain(canary);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("hides what the request had wherever the response and the error have it", async () => {
    await fc.assert(
      fc.asyncProperty(
        secrets,
        fc.constantFrom<(text: string) => string>(
          (text) => text,
          encode,
          (text) => JSON.stringify(text),
          (text) => new URLSearchParams({ text }).toString(),
        ),
        async (secret, spelling) => {
          const echo = (): Response =>
            Response.json(
              {
                error: `bad ${spelling(secret)}`,
                error_description: `what is ${spelling(secret)}?`,
              },
              { status: 400, headers: { "x-echo": encode(spelling(secret)) } },
            );
          const calls: readonly ((client: OAuth2Client) => Promise<unknown>)[] = [
            (client) => client.authCode.getToken(secret, { code_verifier: "CANARY-verifier" }),
            (client) => client.password.getToken("ann", secret),
            (client) => client.request("get", "/r", { params: { code: secret } }),
            (client) => client.getToken({ grant_type: "x", subject_token: secret, state: secret }),
          ];
          for (const call of calls) expect(await sinksOf(echo, call)).not.toContain(canary);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("hides secrets in the cause of a connection that failed", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, fc.constantFrom("header", "query"), async (secret, mode) => {
        const respond = (request: Request): Response => {
          const about = `${request.url} ${request.headers.get("authorization")}`;
          const cause = Object.assign(new Error(`connect to ${about}`), { code: "ECONNREFUSED" });
          throw Object.assign(
            new TypeError(`error sending request for url (${about})`, { cause }),
            {
              request: about,
            },
          );
        };
        const calls: readonly ((client: OAuth2Client) => Promise<unknown>)[] = [
          (client) => tokenOf(client, mode === "query" ? "query" : "header").get("/r"),
          (client) => client.request("get", "/r", { params: { access_token: secret } }),
          (client) => client.getToken({ grant_type: "x", code: secret, tokenMethod: "get" }),
        ];
        for (const call of calls) expect(await sinksOf(respond, call)).not.toContain(canary);
      }),
      { numRuns: 40 },
    );
  });

  it.each(["(https://user:CANARY@app.example/path)", "x=https://user:CANARY@app.example"])(
    "hides the user information of a URL in %s",
    (text) => {
      expect(redactText(text)).not.toContain("CANARY");
    },
  );

  it("ends where a cause leads back to its error", async () => {
    const cause = new Error("fetch failed");
    cause.cause = cause;
    const client = new OAuth2Client("app", "s3cret-value", {
      site: "https://auth.example.com",
      fetch: () => Promise.reject(cause),
    });
    const error = await client.clientCredentials.getToken().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "OAuth2ConnectionError" });
  });

  it("keeps the cause of a connection that failed as it is where it shows no secret", async () => {
    const cause = new TypeError("fetch failed");
    const client = new OAuth2Client("id", null, {
      site: "https://server.example",
      fetch: () => Promise.reject(cause),
    });
    await expect(client.request("get", "/r")).rejects.toMatchObject({
      code: "ERR_OAUTH_CONNECTION",
    });
    const error: unknown = await client.request("get", "/r").catch((reason: unknown) => reason);
    expect(Object(error).cause).toBe(cause);
  });

  it("hides secrets of a token in its inspection and its JSON, in all depths", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, anyUrl, members, async (secret, url, member) => {
        const client = new OAuth2Client("id", null, { site: "https://server.example" });
        const token = AccessToken.fromHash(client, {
          access_token: `${canary}-token-123`,
          refresh_token: `${canary}-refresh-123`,
          id_token: secret,
          team: { [member]: secret, urls: [url] },
          info: `the token ${canary}-token-123 is new`,
        });
        expect(everything(token)).not.toContain(canary);
      }),
    );
  });

  it("takes linear time for long words, forms and names: else this would take minutes", async () => {
    const bodies = ["a%3D", "https://", "?a=1&", "a:", "code=", "x;", "#?", "%253D", "[", "a=(;"];
    for (const part of bodies) {
      const respond = (): Response => new Response(part.repeat(50_000));
      const shown = await sinksOf(respond, (client) => client.request("get", "/r"));
      expect(shown).not.toContain(canary);
    }
  });
});

describe("redaction over a socket", () => {
  let server: ScriptedServer;
  let lines: string[];
  beforeEach(async () => {
    server = await startScriptedServer();
    lines = [];
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const clientWith = (options: OAuth2ClientOptions = {}): OAuth2Client =>
    new OAuth2Client("id", "secret-of-client", {
      site: server.origin,
      debug: true,
      logger: { debug: (line) => void lines.push(line) },
      ...options,
    });

  it("hides the first parameter of the Location of a redirect", async () => {
    const location = "https://app/cb?code=CANARY-code&state=x";
    server.script = [{ status: 302, headers: { location }, body: "" }];
    const response = await clientWith().request("get", "/r", { maxRedirects: 0 });
    const shown = "https://app/cb?code=[FILTERED]&state=[FILTERED]";
    expect(JSON.parse(JSON.stringify(response))).toMatchObject({ headers: { location: shown } });
    expect(lines.join("\n")).toContain(`location: ${shown}`);
  });

  it("hides secrets of URLs in Link, in JSON, in a fragment and after a word", async () => {
    server.script = [
      {
        status: 400,
        headers: {
          "content-type": "application/json",
          link: "<https://x/?access_token=CANARY-link>; rel=next",
        },
        body: JSON.stringify({
          next: "https://x/?access_token=CANARY-json",
          callback: "https://app/#access_token=CANARY-fragment",
          error_description: "Error: access_token=CANARY-text",
        }),
      },
    ];
    const error: unknown = await clientWith()
      .request("get", "/r")
      .catch((reason: unknown) => reason);
    const shown = [...lines, everything(error), JSON.stringify(Object(error).response)].join("\n");
    expect(shown).not.toContain(canary);
    expect(shown).toContain("Error: access_token=[FILTERED]");
    expect(shown).toContain("<https://x/?access_token=[FILTERED]>; rel=next");
  });

  it("shows code, state, request and response of an API's own JSON, in inspection, JSON and log", async () => {
    const body = '{"code":"ERR_X","state":"open","request":"r-1","response":{"code":5},"nonce":1}';
    server.script = [json(body, 422)];
    const response = await clientWith().request("get", "/r", { raiseErrors: false });
    expect(JSON.parse(JSON.stringify(response))).toMatchObject({ body });
    expect(inspect(response)).toContain("ERR_X");
    expect(lines[1]).toContain(body);
  });

  it("shows the code of an API's own JSON as a pair of text, and not the code of a request", async () => {
    server.script = [json({ detail: "code: ERR_X, state: open", code: "CANARY-code" }, 400)];
    const error: unknown = await clientWith()
      .authCode.getToken("CANARY-code")
      .catch((reason: unknown) => reason);
    const shown = [...lines, JSON.stringify(Object(error).response)].join("\n");
    expect(shown).toContain("code: ERR_X, state: open");
    expect(shown).not.toContain(canary);
  });

  it("shows the error and its description as sentences", async () => {
    const description = "The access token has expired: use https://docs.example/?topic=token";
    server.script = [json({ error: "invalid_token", error_description: description }, 401)];
    await expect(clientWith().request("get", "/r")).rejects.toMatchObject({
      message: `invalid_token: ${description} (HTTP 401)`,
    });
  });

  it("shows token_type, endpoints and scopes of an answer", async () => {
    const shown = '"token_type":"bearer","scope":"a","token_endpoint":"https://x/token"}';
    server.script = [json(`{"access_token":"CANARY-1",${shown}`)];
    await clientWith().clientCredentials.getToken();
    expect(lines[1]).toContain(`{"access_token":"[FILTERED]",${shown}`);
  });
});
