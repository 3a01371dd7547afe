import { getEventListeners } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { wrap } from "@fetchwork/http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  withAccessToken,
  OAuth2Client,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import type { ProofTarget } from "../../src/connection/proof.ts";
import { hasOpenssl, makeCertificates, type Certificates } from "../certificates.ts";
import {
  close,
  json,
  listen,
  readText,
  startScriptedServer,
  type ScriptedServer,
  type SeenRequest,
} from "../scripted-server.ts";

/** One way to send a request with a token; all of them return the status and the text. */
type Way = (token: AccessToken, path: string, init?: WayInit) => Promise<readonly [number, string]>;

interface WayInit {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const form = { "content-type": "application/x-www-form-urlencoded" };

const ways: Readonly<Record<string, Way>> = {
  "token.get": async (token, path, { method = "GET", body, headers } = {}) => {
    const response = await token.request(method, path, { body, headers, raiseErrors: false });
    return [response.status, response.body];
  },
  authorizedFetch: async (token, path, init = {}) => {
    const response = await authorizedFetch(token)(path, init);
    return [response.status, await response.text()];
  },
  withAccessToken: async (token, path, init = {}) => {
    const send = wrap((request) => fetch(request), withAccessToken(token));
    const response = await send(new Request(token.client.resolve(path), init));
    return [response.status, await response.text()];
  },
};
const rows = Object.entries(ways);

const seen: SeenRequest[] = [];
let lines: string[];
let api: ScriptedServer;
let other: ScriptedServer;
beforeEach(async () => {
  seen.length = 0;
  lines = [];
  api = await startScriptedServer("API", seen, json({ fine: true }));
  other = await startScriptedServer("OTHER", seen, json({ other: true }));
});
afterEach(async () => {
  for (const server of [api, other]) await server[Symbol.asyncDispose]();
});

function tokenOf(
  options: OAuth2ClientOptions = {},
  hash: Record<string, unknown> = {},
): AccessToken {
  const client = new OAuth2Client("id", "secret", {
    site: api.origin,
    debug: true,
    logger: { debug: (line) => void lines.push(line) },
    ...options,
  });
  return AccessToken.fromHash(client, { access_token: "the-token-A1", ...hash });
}

/** A server that accepts requests and never responds, or stops within the body. */
async function startSilentServer(head: boolean): Promise<AsyncDisposable & { origin: string }> {
  const server: Server = createServer((_request, response) => {
    if (!head) return;
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("the beginning");
  });
  const origin = await listen(server);
  return { origin, [Symbol.asyncDispose]: () => close(server) };
}

describe.each(rows)("%s", (name, send) => {
  it("sends the headers of connectionOpts, and those of the call win", async () => {
    const token = tokenOf({ connectionOpts: { headers: { "x-a": "client", "x-b": "client" } } });
    await send(token, "/r", { headers: { "x-b": "call" } });
    expect(seen).toMatchObject([
      { headers: { "x-a": "client", "x-b": "call", authorization: "Bearer the-token-A1" } },
    ]);
  });

  it.each([
    ["never responds", false],
    ["stops within the body", true],
  ])("ends a request to a server that %s", async (_case, head) => {
    await using server = await startSilentServer(head);
    const token = tokenOf({ site: server.origin, connectionOpts: { timeout: 60 } });
    await expect(send(token, "/r")).rejects.toMatchObject({
      name: "OAuth2TimeoutError",
      code: "ERR_OAUTH_TIMEOUT",
      milliseconds: 60,
    });
  });

  it("logs the request and the response, without their secrets", async () => {
    api.script = [
      json({ echo: "the-token-A1, hunter22 and the-api-key", password: "hunter22", fine: 1 }, 422),
    ];
    const body = "user=ann&password=hunter22";
    const [status, text] = await send(tokenOf(), "/login", {
      method: "POST",
      body,
      headers: { ...form, "x-api-key": "the-api-key" },
    });
    expect([status, JSON.parse(text).password]).toEqual([422, "hunter22"]);
    const log = lines.join("\n");
    expect(log).toContain(`request: POST ${api.origin}/login`);
    expect(log).toContain("user=ann");
    expect(log).toContain("response: 422");
    expect(log).toContain('"fine":1');
    expect(log).not.toMatch(/hunter22|the-token|the-api/);
  });

  it("follows at most maxRedirects redirects, and returns the next one as the response", async () => {
    api.script = [{ status: 302, headers: { location: "/next" }, body: "moved" }];
    const [status] = await send(tokenOf({ maxRedirects: 2 }), "/r");
    expect(status).toBe(302);
    expect(seen.map(({ target }) => target)).toEqual(["/r", "/next", "/next"]);
  });

  it("keeps the token within the origin when it is redirected, and drops it elsewhere", async () => {
    api.script = [
      { status: 307, headers: { location: "/b" }, body: "" },
      { status: 302, headers: { location: `${other.origin}/c` }, body: "" },
    ];
    const token = tokenOf(
      { connectionOpts: { headers: { "x-api-key": "K" } } },
      { mode: "query", param_name: "t" },
    );
    await send(token, "/a");
    expect(seen.map(({ host, target }) => [host, target])).toEqual([
      ["API", "/a?t=the-token-A1"],
      ["API", "/b?t=the-token-A1"],
      ["OTHER", "/c"],
    ]);
    expect(seen.map(({ headers }) => headers["x-api-key"])).toEqual(["K", "K", undefined]);
  });

  it("takes a Location with two slashes for a path of the host", async () => {
    const location = other.origin.replace("http:", "");
    api.script = [{ status: 302, headers: { location: `${location}/x` }, body: "" }, json({})];
    await send(tokenOf(), "/a");
    expect(seen.map(({ host, target }) => [host, target])).toEqual([
      ["API", "/a"],
      ["API", `${location}/x`],
    ]);
  });

  it("takes no body to another origin", async () => {
    api.script = [{ status: 307, headers: { location: `${other.origin}/c` }, body: "" }];
    const sent = send(tokenOf(), "/a", { method: "POST", body: "a=1" });
    // The body of a Request can be read only once.
    await expect(sent).rejects.toMatchObject({ code: "ERR_OAUTH_REDIRECT" });
    expect(seen).toHaveLength(1);
  });

  it("refuses a redirect to where the client's allowedOrigins does not lead", async () => {
    api.script = [{ status: 302, headers: { location: `${other.origin}/c` }, body: "" }];
    const sent = send(tokenOf({ allowedOrigins: "site" }), "/a");
    await expect(sent).rejects.toMatchObject({ code: "ERR_OAUTH_TARGET" });
    expect(seen).toHaveLength(1);
  });

  it("makes a proof for each redirect and for each nonce", async () => {
    let nonce = "none";
    const proof = {
      prove: async ({ method, url }: ProofTarget) => `${method} ${url.pathname} ${nonce}`,
      accept: ({ status, headers }: { status: number; headers: Headers }) => {
        nonce = headers.get("dpop-nonce") ?? nonce;
        return status === 401 && headers.has("dpop-nonce");
      },
    };
    api.script = [
      { status: 302, headers: { location: "/b", "dpop-nonce": "n1" }, body: "" },
      { status: 401, headers: { "dpop-nonce": "n2" }, body: "" },
      json({ fine: true }),
    ];
    const [status] = await send(tokenOf({ dpop: proof }, { token_type: "DPoP" }), "/a");
    expect(status).toBe(200);
    expect(seen.map(({ headers }) => headers["dpop"])).toEqual([
      "GET /a none",
      "GET /b n1",
      "GET /b n2",
    ]);
  });

  if (name === "withAccessToken") return;
  it("sends with the fetch of the client", async () => {
    const urls: string[] = [];
    const token = tokenOf({
      fetch: (request) => {
        urls.push(`${request.method} ${request.url} ${request.redirect}`);
        return new Response("given");
      },
    });
    expect(await send(token, "/r")).toEqual([200, "given"]);
    expect(urls).toEqual([`GET ${api.origin}/r manual`]);
  });

  it("names the server that refuses the connection, and the code", async () => {
    const { origin } = api;
    await api[Symbol.asyncDispose]();
    await expect(send(tokenOf({ site: origin }), "/r")).rejects.toMatchObject({
      code: "ERR_OAUTH_CONNECTION",
      message: `connection refused by ${origin} (ECONNREFUSED)`,
    });
  });
});

describe("a streamed response", () => {
  it("arrives piece by piece, however long it takes as long as pieces come", async () => {
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = createServer((_request, response) => {
      response.write("one");
      void (async () => {
        for (const { promise } of steps) {
          await promise;
          response.write("more");
        }
        response.end();
      })();
    });
    const origin = await listen(server);
    try {
      const response = await authorizedFetch(tokenOf({ site: origin }))("/r");
      expect(response.url).toBe(`${origin}/r`);
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      const texts: string[] = [];
      for (const step of [...steps, undefined]) {
        texts.push(decoder.decode((await reader?.read())?.value));
        step?.resolve();
      }
      expect(texts).toEqual(["one", "more", "more"]);
      expect((await reader?.read())?.done).toBe(true);
    } finally {
      await close(server);
    }
  });

  it("leaves no listener behind when it was read, and logs its body once", async () => {
    const { signal } = new AbortController();
    const response = await authorizedFetch(tokenOf())("/r", { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    expect(await response.json()).toEqual({ fine: true });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(lines.filter((line) => line.startsWith("response body:"))).toHaveLength(1);
  });

  it("says that it was redirected, and where from", async () => {
    api.script = [{ status: 302, headers: { location: "/b" }, body: "" }, json({ fine: true })];
    const response = await authorizedFetch(tokenOf())("/a");
    expect([response.redirected, response.url]).toEqual([true, `${api.origin}/b`]);
  });

  it("closes the connection when it is cancelled, and when the caller's signal is aborted", async () => {
    for (const end of ["cancel", "abort"]) {
      const closed = Promise.withResolvers<void>();
      const server = createServer((request, response) => {
        request.socket.once("close", () => closed.resolve());
        response.write("one");
      });
      const origin = await listen(server);
      const controller = new AbortController();
      const { signal } = controller;
      const response = await authorizedFetch(tokenOf({ site: origin }))("/r", { signal });
      if (end === "cancel") await response.body?.cancel();
      else controller.abort(new Error("enough"));
      if (end === "abort") await expect(response.text()).rejects.toThrow("enough");
      await closed.promise;
      await close(server);
    }
  });
});

describe("a streamed request", () => {
  it("is sent piece by piece, and a redirect that would send it again is an error", async () => {
    api.script = [json({ fine: true }), { status: 307, headers: { location: "/b" }, body: "" }];
    const send = authorizedFetch(tokenOf());
    const post = (): Promise<Response> =>
      send("/r", { method: "POST", body: new Blob(["piece"]).stream() });
    expect((await post()).status).toBe(200);
    await expect(post()).rejects.toMatchObject({ code: "ERR_OAUTH_REDIRECT" });
    expect(seen.map(({ body }) => body)).toEqual(["piece", "piece"]);
  });

  it("is not ended while its pieces come", async () => {
    const token = tokenOf({ connectionOpts: { timeout: 300 } });
    let count = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        count += 1;
        if (count > 6) controller.close();
        else controller.enqueue(new TextEncoder().encode(`${count}`));
      },
    });
    const response = await authorizedFetch(token)("/r", { method: "POST", body });
    expect([response.status, seen[0]?.body]).toEqual([200, "123456"]);
  });
});

describe.skipIf(!hasOpenssl())("certificate-bound tokens (needs openssl)", () => {
  let certificates: Certificates;
  let server: Server;
  let site: string;
  beforeAll(async () => {
    certificates = makeCertificates();
    const { ca, server: own } = certificates;
    server = createTlsServer(
      { ...own, ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const { socket } = request;
        const bound =
          socket instanceof TLSSocket && socket.authorized
            ? socket.getPeerCertificate().subject.CN
            : "nobody";
        void readText(request).then((body) => {
          response.writeHead(bound === "client" ? 200 : 401, {
            "content-type": "application/json",
          });
          response.end(JSON.stringify({ access_token: "bound", bound, size: body.length }));
        });
      },
    );
    await listen(server);
    site = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => close(server));

  it.each(rows.filter(([name]) => name !== "withAccessToken"))(
    "are sent by %s with the certificate of the client, and through its proxy",
    async (_name, send) => {
      const asked: string[] = [];
      const proxy = createServer();
      const tunnels: Duplex[] = [];
      proxy.on("connect", (request, socket) => {
        tunnels.push(socket);
        asked.push(request.url ?? "");
        const [host = "", port = ""] = (request.url ?? "").split(":");
        const upstream = connect(Number(port), host, () => {
          socket.write("HTTP/1.1 200 Connected\r\n\r\n");
          upstream.pipe(socket).pipe(upstream);
        });
        for (const end of [upstream, socket]) end.on("error", () => socket.destroy());
      });
      const proxyUrl = await listen(proxy);
      try {
        const client = new OAuth2Client("the-client", null, {
          site,
          authScheme: "tls_client_auth",
          connectionOpts: { ...certificates.client, ca: certificates.ca, proxy: proxyUrl },
        });
        const token = await client.clientCredentials.getToken();
        const [status, text] = await send(token, "/r", {
          method: "POST",
          body: "x".repeat(100_000),
        });
        expect([status, JSON.parse(text)]).toMatchObject([200, { bound: "client", size: 100_000 }]);
        expect(new Set(asked)).toEqual(new Set([new URL(site).host]));
        expect(asked.length).toBeGreaterThan(0);
      } finally {
        for (const tunnel of tunnels) tunnel.destroy();
        await close(proxy);
      }
    },
  );
});
