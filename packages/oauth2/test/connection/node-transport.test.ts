import { createServer as createPlainServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { authorizedFetch, AccessToken, OAuth2Client } from "../../src/index.ts";
import { nodeTransport } from "../../src/node/node-transport.ts";
import { hasOpenssl, makeCertificates, type Certificates } from "../certificates.ts";
import { close, listen, readText, startScriptedServer } from "../scripted-server.ts";

const option = expect.objectContaining({ code: "ERR_OAUTH_OPTION" });

describe("refusals", () => {
  const wrong = [
    { cert: "x" },
    { key: "x" },
    { cert: "no certificate", key: "no key" },
    { ca: "-----BEGIN CERTIFICATE-----\nx" },
    { proxy: "socks5://127.0.0.1" },
    { proxy: "proxy" },
    { connectTimeout: -1 },
    { connectTimeout: Number.NaN },
  ];
  it.each(wrong)("refuses %j", (options) => {
    expect(() => nodeTransport(options)).toThrow(option);
  });

  it("refuses what the connection of a client cannot be, when the client is made", () => {
    const connectionOpts = { cert: "no certificate", key: "hidden" };
    let error: unknown;
    try {
      error = new OAuth2Client("id", null, { connectionOpts });
    } catch (reason) {
      error = reason;
    }
    expect(error).toEqual(option);
    expect(String(error)).not.toContain("hidden");
  });

  it("says what is missing where there is no Node", () => {
    vi.stubGlobal("process", undefined);
    try {
      expect(() => new OAuth2Client("id", null, { connectionOpts: { proxy: false } })).toThrow(
        option,
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("plain connections", () => {
  it("sends method, headers and body, and returns the answer, redirects not followed", async () => {
    await using server = await startScriptedServer();
    server.script = [{ status: 302, headers: { location: "/x", "x-b": "2" }, body: "moved" }];
    await using transport = nodeTransport({ proxy: false });
    const response = await transport(`${server.origin}/r?a=1`, {
      method: "POST",
      body: "text",
      headers: { "x-a": "1" },
      redirect: "manual",
    });
    expect(server.seen).toMatchObject([
      { method: "POST", target: "/r?a=1", body: "text", headers: { "x-a": "1" } },
    ]);
    expect([response.status, response.headers.get("x-b"), await response.text()]).toEqual([
      302,
      "2",
      "moved",
    ]);
  });

  it("sends text and bytes with their length, and streams piece by piece", async () => {
    const pieces: PromiseWithResolvers<string>[] = [];
    const heads: unknown[] = [];
    const server = createPlainServer((request, response) => {
      heads.push(request.headers["content-length"] ?? request.headers["transfer-encoding"]);
      const piece = Promise.withResolvers<string>();
      pieces.push(piece);
      request.once("data", (chunk: Buffer) => piece.resolve(String(chunk)));
      void readText(request).then((body) => response.end(body));
    });
    const origin = await listen(server);
    await using transport = nodeTransport({ proxy: false });
    const whole = "x".repeat(3_000_000);
    const post = (body: NonNullable<RequestInit["body"]>): Promise<Response> =>
      transport(new Request(origin, Object({ method: "POST", body, duplex: "half" })));
    expect(await (await post(whole)).text()).toBe(whole);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const answer = post(readable);
    await writer.write(new TextEncoder().encode("one "));
    await vi.waitFor(() => expect(pieces).toHaveLength(2));
    // The second piece is sent after the server has seen the first.
    expect(await pieces[1]?.promise).toBe("one ");
    await writer.write(new TextEncoder().encode("two"));
    await writer.close();
    expect(await (await answer).text()).toBe("one two");
    expect(heads).toEqual(["3000000", "chunked"]);
    await close(server);
  });

  it("is the fetch of a client and of authorizedFetch", async () => {
    await using server = await startScriptedServer();
    await using transport = nodeTransport({ proxy: false });
    const client = new OAuth2Client("id", "secret", { site: server.origin, fetch: transport });
    const token = await client.clientCredentials.getToken();
    const send = authorizedFetch(token);
    expect((await send("/r")).status).toBe(200);
    expect(server.seen[1]?.headers["authorization"]).toBe("Bearer AT");
  });

  it("ends when a signal is aborted, and when the head does not come in the time of the client", async () => {
    const server = createPlainServer(() => {});
    const origin = await listen(server);
    await using transport = nodeTransport({ proxy: false });
    const controller = new AbortController();
    const aborted = transport(origin, { signal: controller.signal });
    controller.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    const options = { site: origin, fetch: transport, connectionOpts: { timeout: 50 } };
    const client = new OAuth2Client("id", null, options);
    await expect(client.clientCredentials.getToken()).rejects.toMatchObject({
      code: "ERR_OAUTH_TIMEOUT",
    });
    await close(server);
  });
});

/** An HTTP proxy that notes what it was asked for. */
async function startProxy(): Promise<
  AsyncDisposable & { readonly url: string; readonly asked: string[] }
> {
  const asked: string[] = [];
  const server = createPlainServer();
  server.on("connect", (request, socket) => {
    asked.push(`${request.headers["proxy-authorization"] ?? "nobody"} ${request.url}`);
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [upstream, socket]) end.on("error", () => socket.destroy());
  });
  const url = await listen(server);
  return { url, asked, [Symbol.asyncDispose]: () => close(server) };
}

describe.skipIf(!hasOpenssl())("TLS (needs openssl)", () => {
  let certificates: Certificates;
  let server: Server;
  let site: string;
  beforeAll(async () => {
    certificates = makeCertificates();
    const { ca, server: own } = certificates;
    server = createTlsServer(
      { ...own, ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        // The server is one of TLS, so its sockets are.
        const socket = request.socket as TLSSocket;
        void readText(request).then((body) => {
          const subject = socket.authorized ? socket.getPeerCertificate().subject.CN : "nobody";
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ access_token: subject, body }));
        });
      },
    );
    await listen(server);
    // `listen` returns the port of an http server; this one is https.
    site = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => close(server));

  it("does not trust a server whose authority it does not know", async () => {
    await using transport = nodeTransport({ proxy: false });
    await expect(transport(site)).rejects.toThrow();
  });

  it("shows the client certificate of connectionOpts, and client_id in the body", async () => {
    const { ca, client: own } = certificates;
    const client = new OAuth2Client("the-client", null, {
      site,
      authScheme: "tls_client_auth",
      connectionOpts: { ...own, ca, proxy: false, timeout: 5000, headers: { "x-a": "1" } },
    });
    const token = await client.clientCredentials.getToken();
    expect(token.token).toBe("client");
    expect(token.params).toEqual({ body: "grant_type=client_credentials&client_id=the-client" });
  });

  it("shows no certificate when it has none", async () => {
    await using transport = nodeTransport({ ca: [certificates.ca], proxy: false });
    expect(await (await transport(site)).json()).toMatchObject({ access_token: "nobody" });
  });

  it("refuses a key that does not belong to the certificate", () => {
    const { client, stranger } = certificates;
    expect(() => nodeTransport({ cert: client.cert, key: stranger.key })).toThrow(option);
  });

  it("goes through a proxy, with its credentials", async () => {
    await using proxy = await startProxy();
    const { ca, client: own } = certificates;
    const url = proxy.url.replace("http://", "http://user:pass@");
    await using transport = nodeTransport({ ...own, ca, proxy: url });
    expect(await (await transport(site)).json()).toMatchObject({ access_token: "client" });
    expect(proxy.asked).toEqual([`Basic ${btoa("user:pass")} ${new URL(site).host}`]);
  });

  it("goes through the proxy of the environment, unless NO_PROXY or an option says otherwise", async () => {
    await using proxy = await startProxy();
    const { ca } = certificates;
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    vi.stubEnv("https_proxy", proxy.url);
    try {
      await using through = nodeTransport({ ca });
      await through(site);
      expect(proxy.asked).toHaveLength(1);
      await using around = nodeTransport({ ca, proxy: false });
      await around(site);
      vi.stubEnv("NO_PROXY", "127.0.0.1");
      vi.stubEnv("no_proxy", "127.0.0.1");
      await using exempt = nodeTransport({ ca });
      await exempt(site);
      expect(proxy.asked).toHaveLength(1);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

it("a mutual TLS connection sends a token of a client over it in every mode", async () => {
  await using server = await startScriptedServer();
  const connectionOpts = { proxy: false, connectTimeout: 1000 } as const;
  const client = new OAuth2Client("id", "secret", { site: server.origin, connectionOpts });
  for (const mode of ["header", "query", "body"] as const) {
    await AccessToken.fromHash(client, { access_token: "T" }, { mode }).post("/r");
  }
  expect(
    server.seen.map(({ target, body, headers }) => [target, body, headers["authorization"]]),
  ).toEqual([
    ["/r", "", "Bearer T"],
    ["/r?access_token=T", "", undefined],
    ["/r", "access_token=T", undefined],
  ]);
});
