import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  OAuth2Client,
  TokenManager,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import { configure, resetSettings } from "../../src/compat/index.ts";
import {
  json,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from "../scripted-server.ts";

/** Every secret has this in it, and nothing else has. */
const canary = "canary";
const secret = (name: string): string => `${canary}-${name}-0123456789`;

let server: ScriptedServer;
let lines: string[];
beforeEach(async () => {
  server = await startScriptedServer();
  lines = [];
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  resetSettings();
});

function clientWith(options: OAuth2ClientOptions = {}): OAuth2Client {
  return new OAuth2Client("id", secret("client"), {
    site: server.origin,
    debug: true,
    logger: { debug: (line) => void lines.push(line), warn: (line) => void lines.push(line) },
    ...options,
  });
}

const fields = {
  access_token: secret("access"),
  refresh_token: secret("refresh"),
  id_token: secret("id"),
  device_code: secret("device"),
};
const camelFields = {
  accessToken: secret("access"),
  refreshToken: secret("refresh"),
  idToken: secret("id"),
};
const nested = { data: [{ token: secret("nested"), 'quote"d': { accessToken: secret("deep") } }] };

const answers: Readonly<Record<string, ScriptedAnswer>> = {
  json: json(fields),
  "camel case": json(camelFields),
  form: {
    status: 200,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams(fields)),
  },
  "form as text": {
    status: 200,
    headers: { "content-type": "text/plain" },
    body: `access_token=${secret("a")}&x=1`,
  },
  "text with pairs": {
    status: 200,
    headers: { "content-type": "text/plain" },
    body: `the access_token: ${secret("text")} and refresh_token => "${secret('quo\\"ted')}"`,
  },
  html: {
    status: 500,
    headers: { "content-type": "text/html", "set-cookie": `sid=${secret("cookie")}` },
    body: `<p>bad request: client_secret=${secret("client")} token="${secret("html")}"</p>`,
  },
  "json cut off": {
    status: 200,
    headers: { "content-type": "application/json" },
    body: `{"access_token":"${secret("cut")}","x":`,
  },
  // Servers write into descriptions what they got.
  "an error about the secret": json(
    { error: "invalid_client", error_description: `${secret("client")} is not a secret of id` },
    400,
  ),
  "an error about the token": json(
    {
      error: "invalid_grant",
      error_description: `token ${secret("access")} is void`,
      token: secret("x"),
    },
    400,
  ),
  "a code about the secret": json({ error: `not ${secret("client")}` }, 400),
  "an echo": json({}),
  redirect: {
    status: 307,
    headers: {
      location: `https://${secret("user")}:${secret("pass")}@evil.invalid/?code=${secret("code")}&access_token=${secret("loc")}`,
    },
    body: "",
  },
  "a nested hash": json({ ...fields, ...nested }),
  "an array": json([fields]),
};

/** What servers for debugging answer, and those with debugging left on. */
function echo({ headers, body, target }: SeenRequest): ScriptedAnswer {
  const { authorization = "" } = headers;
  const parts = authorization.split(" ");
  return json(
    { error: authorization, error_description: target, headers, body, target, parts },
    400,
  );
}

type Flow = (client: OAuth2Client) => Promise<unknown>;

const token = (client: OAuth2Client, mode: "header" | "query" | "body" = "header"): AccessToken =>
  AccessToken.fromHash(client, fields, { mode, paramName: "custom_param" });

const flows: Readonly<Record<string, Flow>> = {
  "authorization code": (client) =>
    client.authCode.getToken(secret("code"), {
      code_verifier: secret("verifier"),
      headers: { "x-api-key": secret("key") },
    }),
  password: (client) => client.password.getToken("ann", secret("password")),
  "client credentials": (client) => client.clientCredentials.getToken(),
  "client credentials as JSON": (client) =>
    client.clientCredentials.getToken({ headers: { "content-type": "application/json" } }),
  "client credentials in the query": (client) =>
    client.clientCredentials.getToken({ tokenMethod: "get" }),
  assertion: (client) =>
    client.assertion.getToken([{ iss: "me", sub: "you" }, "HS256", secret("key")]),
  "token exchange": (client) =>
    client.getToken({
      grant_type: "x",
      subject_token: secret("subject"),
      actor_token: secret("actor"),
    }),
  refresh: (client) => token(client).refresh(),
  revocation: (client) => token(client).revoke({ token_type_hint: "refresh_token" }),
  "a resource, header": (client) => token(client).get("/r"),
  "a resource, query": (client) => token(client, "query").get("/r"),
  "a resource, body": (client) => token(client, "body").post("/r", { body: { a: 1 } }),
  "a resource, JSON": (client) =>
    token(client).post("/r", {
      body: { password: secret("new"), apiKey: secret("api") },
      headers: { "content-type": "application/json", cookie: `a=${secret("cookie")}` },
    }),
  "a resource, parameters": (client) =>
    token(client).get("/r", { params: { code: secret("code"), state: secret("state") } }),
  // The answer is the platform's own object, which shows everything.
  "authorized fetch": async (client) => {
    const manager = new TokenManager(client, { grant: async () => token(client) });
    return (await authorizedFetch(manager)("/r")).status;
  },
};

/** Everything that a careless program may write somewhere. */
function everything(value: unknown): string {
  const stack =
    value instanceof Error ? `${value.stack} ${String(value)} ${String(value.cause)}` : "";
  return `${inspect(value, { depth: 10 })} ${JSON.stringify(value)} ${stack}`;
}

const schemes = ["basic_auth", "request_body", "client_secret_jwt"] as const;
/** Whether an answer tells what its request did not. */
function isForeign(flow: string, answer: string): boolean {
  const toResource = flow.startsWith("a resource");
  if (answer.endsWith("about the secret")) return toResource || flow === "authorized fetch";
  return answer === "an error about the token" && !toResource;
}

const pairs = Object.keys(flows).flatMap((flow) =>
  Object.keys(answers)
    .filter((answer) => !isForeign(flow, answer))
    .map((answer) => [flow, answer] as const),
);

describe.each(pairs)("%s, answered with %s", (flow, answer) => {
  it.each(schemes)(
    "shows no secret in log, errors and inspected objects (%s)",
    async (authScheme) => {
      server.script = [answers[answer] ?? json({})];
      if (answer === "an echo") server.respond = echo;
      const client = clientWith({ authScheme });
      const result: unknown = await flows[flow]?.(client).catch((error: unknown) => error);
      const shown = [...lines, everything(client), everything(result)].join("\n");
      expect(shown).not.toContain(canary);
      expect(shown).not.toContain(Buffer.from(`id:${secret("client")}`).toString("base64"));
      expect(shown).not.toContain(encodeURIComponent(secret("client")));
      // A log that is empty hides secrets too.
      if (flow !== "authorized fetch") {
        expect(lines.some((line) => line.startsWith("request: "))).toBe(true);
        expect(lines.some((line) => line.startsWith("response: "))).toBe(true);
      }
    },
  );
});

describe("debug output", () => {
  it("shows method, URL, headers and body of request and answer", async () => {
    server.script = [json({ access_token: secret("a"), scope: "read" })];
    await clientWith({ authScheme: "request_body" }).clientCredentials.getToken({ scope: "read" });
    expect(lines[0]).toContain(`request: POST ${server.origin}/oauth/token`);
    expect(lines[0]).toContain("content-type: application/x-www-form-urlencoded");
    expect(lines[0]).toContain("scope=read");
    expect(lines[0]).toContain("client_secret=[FILTERED]");
    expect(lines[0]).not.toContain("[FILTERED]]");
    expect(lines[1]).toContain("response: 200");
    expect(lines[1]).toContain('{"access_token":"[FILTERED]","scope":"read"}');
  });

  it("replaces JWTs wherever they stand", async () => {
    const jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl";
    for (const [type, body] of [
      ["text/plain", `what came was ${jwt}, which is void`],
      ["application/json", JSON.stringify({ note: `what came was ${jwt}`, list: [jwt] })],
    ] as const) {
      server.script = [{ status: 200, headers: { "content-type": type, "x-note": jwt }, body }];
      await clientWith().request("get", "/r");
    }
    expect(lines.join("\n")).toContain("what came was [FILTERED]");
    expect(lines.join("\n")).not.toContain("eyJ");
  });

  it("hides the URL that Slack sends with a token, and so does the inspection", async () => {
    const incoming_webhook = { channel: "#c", url: `https://hooks.slack.com/${secret("h")}` };
    server.script = [json({ access_token: secret("a"), team: { incoming_webhook } })];
    const token = await clientWith().authCode.getToken("c");
    expect(lines[1]).toContain("response: 200");
    expect(`${lines.join("\n")} ${inspect(token)} ${JSON.stringify(token)}`).not.toContain(canary);
    expect(token.toHash()).toMatchObject({ team: { incoming_webhook } });
  });

  it("is off by default", async () => {
    await clientWith({ debug: false }).clientCredentials.getToken();
    expect(lines).toEqual([]);
  });

  it.each([
    ["true", true],
    ["TRUE", true],
    ["1", false],
    ["false", false],
  ])("follows OAUTH_DEBUG=%s", async (value, logs) => {
    vi.stubEnv("OAUTH_DEBUG", value);
    await clientWith({ debug: undefined }).clientCredentials.getToken();
    vi.unstubAllEnvs();
    expect(lines.length > 0).toBe(logs);
  });

  it("goes to the standard output without a logger", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    await clientWith({ logger: undefined }).clientCredentials.getToken();
    expect(log).toHaveBeenCalledTimes(2);
    log.mockRestore();
  });

  it("uses the label and the keys of the settings", async () => {
    configure({ filteredLabel: "***", filteredDebugKeys: ["grantType", "my_own"] });
    await clientWith().clientCredentials.getToken({ myOwn: secret("own") });
    expect(lines[0]).toContain("grant_type=***");
    expect(lines[0]).toContain("myOwn=***");
    expect(lines[0]).toContain("authorization: ***");
  });

  it("does not let an answer forge lines with control characters", async () => {
    server.script = [
      { status: 200, headers: { "content-type": "text/plain" }, body: "a\r\u001B[2Jb\u0000" },
    ];
    await clientWith().request("get", "/r");
    // oxlint-disable-next-line no-control-regex
    expect(lines[1]).not.toMatch(/[\r\u001B\u0000]/);
  });

  it("says how many bytes a binary body has", async () => {
    await clientWith().request("post", "/r", {
      body: new Uint8Array([0xff, 0xfe, 0xfd]),
      headers: { "content-type": "application/octet-stream" },
    });
    expect(lines[0]).toContain("(3 bytes)");
  });

  it("takes linear time for a hostile body: else this would take minutes", async () => {
    const bodies = [
      "eyJ".repeat(300_000),
      "a=".repeat(400_000),
      '"'.repeat(900_000),
      "A-eyJ.".repeat(150_000),
    ];
    for (const body of bodies) {
      server.script = [{ status: 200, headers: { "content-type": "text/plain" }, body }];
      const response = await clientWith().request("get", "/r");
      expect(response.body).toBe(body);
    }
  });
});

it("inspect shows an error with code, description and status, not with its answer", async () => {
  server.script = [json({ error: "invalid_client", error_description: "no such client" }, 401)];
  const error: unknown = await clientWith()
    .clientCredentials.getToken()
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ response: { status: 401 } });
  expect(inspect(error)).toContain("OAuth2Error: invalid_client: no such client (HTTP 401)");
  expect(Object.keys(Object(error)).toSorted()).toEqual(["code", "name"]);
});
