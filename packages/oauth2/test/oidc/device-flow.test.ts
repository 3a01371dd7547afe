import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  OidcClient,
  type DeviceAuthorization,
  type OidcClientOptions,
  type ServerMetadata,
} from "../../src/oidc/index.ts";
import { Browser, startProvider, type ProviderServer } from "../provider-server.ts";

const issuer = "https://op.example";
const metadata: ServerMetadata = {
  issuer,
  token_endpoint: `${issuer}/token`,
  device_authorization_endpoint: `${issuer}/device`,
};
const good = {
  device_code: "dc",
  user_code: "WDJB-MJHT",
  verification_uri: "https://op.example/activate",
  expires_in: 600,
  interval: 5,
};

/**
 * A client whose server answers each question with the next of these, and whose clock moves with
 * its waits.
 */
function scripted(...answers: readonly (() => Response)[]): {
  readonly client: OidcClient;
  readonly waits: number[];
  readonly sent: URLSearchParams[];
  readonly wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
} {
  const waits: number[] = [];
  const sent: URLSearchParams[] = [];
  let now = 1_000_000_000_000;
  const queue = [...answers];
  const options: OidcClientOptions = {
    clock: () => now,
    async fetch(request) {
      sent.push(new URLSearchParams(await request.text()));
      const answer = queue.shift();
      if (answer === undefined) throw new Error("no further answer");
      return answer();
    },
  };
  const wait = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    waits.push(milliseconds / 1000);
    now += milliseconds;
  };
  return { client: new OidcClient(metadata, "tv", null, options), waits, sent, wait };
}

const json =
  (body: unknown, status = 200, headers = {}) =>
  (): Response =>
    Response.json(body, { status, headers });
const failure = (error: string, status = 400, headers = {}): (() => Response) =>
  json({ error }, status, headers);
const token = json({ access_token: "at", token_type: "Bearer" });
const unreachable = (): Response => {
  throw new TypeError("fetch failed");
};

describe("device.start", () => {
  it.each([
    ["no device_code", { device_code: undefined }],
    ["a device_code that is a number", { device_code: 1 }],
    ["no user_code", { user_code: "" }],
    ["a user_code that moves the cursor", { user_code: "A\u001b[2J" }],
    ["a user_code that turns text around", { user_code: "A\u202eB" }],
    ["a verification_uri that is a script", { verification_uri: "javascript:alert(1)" }],
    ["a verification_uri that is a file", { verification_uri: "file:///etc/passwd" }],
    ["a verification_uri that is not a URL", { verification_uri: "activate" }],
    ["a complete URI that is a script", { verification_uri_complete: "javascript:alert(1)" }],
    ["no expires_in", { expires_in: undefined }],
    ["a negative expires_in", { expires_in: -1 }],
    ["an expires_in that is text", { expires_in: "soon" }],
    ["a negative interval", { interval: -5 }],
    ["an interval that is text", { interval: "5" }],
  ])("refuses %s", async (_case, wrong) => {
    const { client } = scripted(json({ ...good, ...wrong }));
    await expect(client.device.start()).rejects.toMatchObject({ code: "ERR_OAUTH_RESPONSE" });
  });

  it.each([
    ["HTML", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["a list", json([])],
    ["nothing", () => new Response(null, { status: 204 })],
  ])("refuses %s", async (_case, answer) => {
    const { client } = scripted(answer);
    await expect(client.device.start()).rejects.toMatchObject({ code: "ERR_OAUTH_RESPONSE" });
  });

  it("reports the server's error", async () => {
    const { client } = scripted(failure("invalid_scope"));
    await expect(client.device.start()).rejects.toMatchObject({ code: "invalid_scope" });
  });

  it("says that the server has no such endpoint", async () => {
    const client = new OidcClient({ issuer }, "tv");
    await expect(client.device.start()).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
  });

  it.each([
    [undefined, 5],
    [0, 1],
    [7, 7],
    [1e12, 3600],
  ])("reads the interval %s as %s s", async (interval, expected) => {
    const { client } = scripted(json({ ...good, interval }));
    expect(await client.device.start()).toMatchObject({ interval: expected });
  });
});

describe("device.poll", () => {
  const start = ({ client }: ReturnType<typeof scripted>): Promise<DeviceAuthorization> =>
    client.device.start({ scope: "read" });

  it("waits while the user is on the way, and sends what the grant needs", async () => {
    const script = scripted(json(good), failure("authorization_pending"), token);
    const { client, waits, sent, wait } = script;
    expect((await client.device.poll(await start(script), { wait })).token).toBe("at");
    expect(waits).toEqual([5, 5]);
    expect(Object.fromEntries(sent[0] ?? [])).toEqual({ client_id: "tv", scope: "read" });
    expect(Object.fromEntries(sent[1] ?? [])).toEqual({
      client_id: "tv",
      device_code: "dc",
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    });
  });

  it("asks five seconds less often after each slow_down", async () => {
    const script = scripted(json(good), failure("slow_down"), failure("slow_down"), token);
    const { client, waits, wait } = script;
    await client.device.poll(await start(script), { wait });
    expect(waits).toEqual([5, 10, 15]);
  });

  it("asks half as often each time the server cannot be reached", async () => {
    const script = scripted(json(good), unreachable, unreachable, token);
    const { client, waits, wait } = script;
    await client.device.poll(await start(script), { wait });
    expect(waits).toEqual([5, 10, 20]);
  });

  it("asks on after a page of a proxy whose server is gone for a moment", async () => {
    const page = (): Response => new Response("<h1>Bad Gateway</h1>", { status: 502 });
    const script = scripted(json(good), page, token);
    const { client, waits, wait } = script;
    await client.device.poll(await start(script), { wait });
    expect(waits).toEqual([5, 10]);
  });

  it("obeys Retry-After of 429 and 503", async () => {
    const busy = failure("temporarily_unavailable", 503, { "retry-after": "30" });
    const vague = failure("too_many", 429, { "retry-after": "a while" });
    // The clock starts at 1e12 and has moved 70 s by then.
    const date = new Date(1_000_000_130_000).toUTCString();
    const dated = failure("too_many", 429, { "retry-after": date });
    const script = scripted(json({ ...good, expires_in: 600 }), busy, vague, dated, token);
    const { client, waits, wait } = script;
    await client.device.poll(await start(script), { wait });
    expect(waits).toEqual([5, 30, 35, 60]);
  });

  it("asks neither sooner than before nor more rarely than once an hour, whatever Retry-After says", async () => {
    const soon = failure("slow", 503, { "retry-after": "0" });
    const never = failure("slow", 503, { "retry-after": "999999999" });
    const script = scripted(json({ ...good, expires_in: 86_400 }), soon, never, token);
    const { client, waits, wait } = script;
    await client.device.poll(await start(script), { wait });
    expect(waits).toEqual([5, 5, 3600]);
  });

  it.each(["access_denied", "expired_token", "invalid_grant"])("ends with %s", async (code) => {
    const script = scripted(json(good), failure("authorization_pending"), failure(code));
    const { client, wait } = script;
    await expect(client.device.poll(await start(script), { wait })).rejects.toMatchObject({ code });
  });

  it("ends with expired_token when the time is over, without another question", async () => {
    const pending = failure("authorization_pending");
    const script = scripted(json({ ...good, expires_in: 12 }), pending, pending);
    const { client, wait, sent } = script;
    await expect(client.device.poll(await start(script), { wait })).rejects.toMatchObject({
      code: "expired_token",
    });
    expect(sent).toHaveLength(3);
  });

  it("stops at once when it is aborted while it waits", async () => {
    const script = scripted(json(good));
    const controller = new AbortController();
    const polling = script.client.device.poll(await start(script), { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(polling).rejects.toThrow("enough");
    expect(script.sent).toHaveLength(1);
  });

  it("refuses what device.start did not give", async () => {
    const { client } = scripted();
    const wrong = { ...(await start(scripted(json(good)))), interval: Number.NaN };
    await expect(client.device.poll(wrong)).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });
});

describe("the device flow, against oidc-provider", () => {
  let server: ProviderServer;

  beforeAll(async () => {
    server = await startProvider(() => ({
      clients: [
        {
          client_id: "tv",
          token_endpoint_auth_method: "none",
          grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
          response_types: [],
          redirect_uris: [],
        },
      ],
      features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true } },
    }));
  });

  afterAll(async () => server.close());

  it("returns a token, with an ID token that is validated, once the user has confirmed", async () => {
    const client = await OidcClient.discover(server.issuer, "tv");
    const device = JSON.parse(JSON.stringify(await client.device.start({ scope: "openid" })));
    const answers: string[] = [];
    const wait = async (): Promise<void> => {
      answers.push("asked");
      if (answers.length === 2) await confirm(device);
    };
    const received = await client.device.poll(device, { wait });
    expect(answers).toHaveLength(2);
    expect(client.claims(received)).toMatchObject({ iss: server.issuer, sub: "user-1", aud: "tv" });
  });

  it("ends with access_denied when the user refuses", async () => {
    const client = await OidcClient.discover(server.issuer, "tv");
    const device = await client.device.start({ scope: "openid" });
    const wait = async (): Promise<void> => confirm(device, { abort: "yes" });
    await expect(client.device.poll(device, { wait })).rejects.toMatchObject({
      code: "access_denied",
    });
  });
});

/** Does what a user does: opens the page, and confirms the code. */
async function confirm(
  device: DeviceAuthorization,
  choice = { confirm: "yes" } as object,
): Promise<void> {
  const browser = new Browser();
  const { verificationUri, verificationUriComplete = "", userCode } = device;
  const first = await browser.open(verificationUriComplete);
  const xsrfOf = (text: string): string => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const form = { xsrf: xsrfOf(first.text), user_code: userCode };
  const second = await browser.open(verificationUri, "none", form);
  const last = { xsrf: xsrfOf(second.text), user_code: userCode, ...choice };
  const page = await browser.open(verificationUri, "none", last);
  expect(page.text).toMatch(/success|Sign-in Success|aborted|refused|interrupted/i);
}
