import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import * as openidClient from "openid-client";
import { afterEach, describe, expect, it } from "vitest";
import { discover, OidcClient } from "../../src/oidc/index.ts";
import { closeServer } from "../provider-server.ts";

const issuer = "https://op.example";
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(closeServer));
});

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("discover, next to oauth4webapi and openid-client", () => {
  it.each([
    ["the issuer", issuer, { issuer }, "accepts"],
    ["a slash more than was asked for", issuer, { issuer: `${issuer}/` }, "accepts"],
    ["a path", `${issuer}/t1`, { issuer: `${issuer}/t1` }, "accepts"],
    ["a slash at the end of a path", `${issuer}/t1`, { issuer: `${issuer}/t1/` }, "refuses"],
    ["another path", `${issuer}/t1`, { issuer: `${issuer}/t2` }, "refuses"],
    ["another host", issuer, { issuer: "https://evil.example" }, "refuses"],
    ["another scheme", issuer, { issuer: "http://op.example" }, "refuses"],
    ["an issuer that is a number", issuer, { issuer: 1 }, "refuses"],
    ["no issuer", issuer, {}, "refuses"],
    ["a list", issuer, [], "refuses"],
    ["null", issuer, null, "refuses"],
  ])("judges %s alike", async (_case, asked, document, verdict) => {
    const judge = (judged: Promise<unknown>): Promise<string> =>
      judged.then(
        () => "accepts",
        () => "refuses",
      );
    expect(await judge(discover(asked, { fetch: () => Response.json(document) }))).toBe(verdict);
    const theirs = oauth.processDiscoveryResponse(new URL(asked), Response.json(document));
    expect(await judge(theirs)).toBe(verdict);
    const fetch = async (): Promise<Response> => Response.json(document);
    const others = openidClient.discovery(new URL(asked), "app", undefined, openidClient.None(), {
      [openidClient.customFetch]: fetch,
    });
    expect(await judge(others)).toBe(verdict);
  });
});

describe("discover", () => {
  it.each(["token_endpoint", "jwks_uri", "authorization_endpoint"])(
    "does not let an issuer elsewhere name a %s on this machine",
    async (name) => {
      const document = { issuer, [name]: "http://127.0.0.1:9/x" };
      const fetch = (): Response => Response.json(document);
      await expect(discover(issuer, { fetch })).rejects.toMatchObject({
        code: "ERR_OAUTH_METADATA",
      });
      expect(await discover(issuer, { fetch, allowInsecure: true })).toEqual(document);
    },
  );

  it.each([
    ["no URL", "op.example"],
    ["a query", `${issuer}/?x=1`],
    ["a fragment", `${issuer}/#x`],
  ])("throws for an issuer with %s", async (_case, wrong) => {
    await expect(discover(wrong)).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("throws for an unknown algorithm", async () => {
    await expect(discover(issuer, { algorithm: "x" as "oidc" })).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it.each([
    [issuer, "oidc", `${issuer}/.well-known/openid-configuration`],
    [`${issuer}/`, "oidc", `${issuer}/.well-known/openid-configuration`],
    [`${issuer}/a/b`, "oidc", `${issuer}/a/b/.well-known/openid-configuration`],
    [issuer, "oauth2", `${issuer}/.well-known/oauth-authorization-server`],
    [`${issuer}/a/b`, "oauth2", `${issuer}/.well-known/oauth-authorization-server/a/b`],
  ] as const)("looks for %s by %s at %s", async (asked, algorithm, expected) => {
    const asks: string[] = [];
    await discover(asked, {
      algorithm,
      fetch: ({ url }) => {
        asks.push(url);
        return Response.json({ issuer: asked });
      },
    });
    expect(asks).toEqual([expected]);
  });

  it.each([
    [`${issuer}/a/.well-known/openid-configuration`, `${issuer}/a`],
    [`${issuer}/.well-known/oauth-authorization-server/a`, `${issuer}/a`],
    [`${issuer}/.well-known/openid-configuration`, issuer],
  ])("takes the URL %s for the document of %s, and of nobody else", async (url, expected) => {
    const fetch = () => Response.json({ issuer: expected });
    expect(await discover(url, { fetch })).toEqual({ issuer: expected });
    const other = () => Response.json({ issuer: `${issuer}/other` });
    await expect(discover(url, { fetch: other })).rejects.toMatchObject({
      code: "ERR_OAUTH_METADATA",
    });
  });

  it.each([
    ["a token endpoint over http", { token_endpoint: "http://op.example/token" }],
    ["a script for an endpoint", { authorization_endpoint: "javascript:alert(1)" }],
    ["a password in a URL", { token_endpoint: "https://u:p@op.example/token" }],
    ["an endpoint that is not a URL", { jwks_uri: "/jwks" }],
    ["an endpoint that is a list", { userinfo_endpoint: ["https://op.example/me"] }],
    ["algorithms that are no list", { id_token_signing_alg_values_supported: "RS256" }],
    ["algorithms that are no texts", { id_token_signing_alg_values_supported: [1] }],
    ["a flag that is text", { authorization_response_iss_parameter_supported: "false" }],
    ["aliases that are a list", { mtls_endpoint_aliases: [] }],
    ["an alias over http", { mtls_endpoint_aliases: { token_endpoint: "http://op.example/t" } }],
  ])("refuses %s", async (_case, members) => {
    const document = { issuer, ...members };
    const found = discover(issuer, { fetch: () => Response.json(document) });
    await expect(found).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    expect(() => new OidcClient(document as never, "app")).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_METADATA" }),
    );
  });

  it.each([201, 301, 404, 500])("takes no document of status %i", async (status) => {
    const fetch = (): Response => Response.json({ issuer }, { status });
    await expect(discover(issuer, { fetch })).rejects.toMatchObject({
      code: "ERR_OAUTH_METADATA",
      status,
    });
  });

  it("allows http to other machines only where it is told to", async () => {
    const open = "http://op.internal";
    const options = { fetch: () => Response.json({ issuer: open }) };
    await expect(discover(open, options)).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    expect(await discover(open, { ...options, allowInsecure: true })).toEqual({ issuer: open });
  });

  it.each(["http://127.0.0.2:1", "http://[::1]", "http://localhost:8080", "http://a.localhost"])(
    "takes %s for this machine",
    async (local) => {
      const fetch = () => Response.json({ issuer: local });
      expect(await discover(local, { fetch })).toEqual({ issuer: local });
    },
  );

  it.each(["http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://127.evil"])(
    "does not take %s for this machine",
    async (remote) => {
      const fetch = () => Response.json({ issuer: remote });
      await expect(discover(remote, { fetch })).rejects.toMatchObject({
        code: "ERR_OAUTH_METADATA",
      });
    },
  );

  it.each<readonly [string, string, RequestListener]>([
    ["HTML", "ERR_OAUTH_METADATA", (_, response) => response.end("<html>")],
    ["JSON that is cut off", "ERR_OAUTH_METADATA", (_, response) => response.end('{"issuer":')],
    ["an error", "ERR_OAUTH_METADATA", (_, response) => response.writeHead(503).end("{}")],
    [
      "a redirect",
      "ERR_OAUTH_METADATA",
      (_, response) => response.writeHead(302, { location: "https://evil.example/" }).end(),
    ],
    [
      "a connection that breaks",
      "ERR_OAUTH_CONNECTION",
      (_, response) => {
        response.writeHead(200, { "content-length": "100" }).write("{");
        response.destroy();
      },
    ],
    [
      "an endless body",
      "ERR_OAUTH_RESPONSE_TOO_LARGE",
      (_, response) => {
        const more = (): void => {
          while (response.writable && response.write(" ".repeat(65_536)));
        };
        response.on("drain", more);
        more();
      },
    ],
    [
      "a body that announces too much",
      "ERR_OAUTH_RESPONSE_TOO_LARGE",
      (_, response) => {
        response.writeHead(200, { "content-length": "99999999" }).write("{");
      },
    ],
    ["silence", "ERR_OAUTH_TIMEOUT", () => undefined],
    ["a body that never ends", "ERR_OAUTH_TIMEOUT", (_, response) => void response.write("{")],
  ])("survives %s, as %s", async (_case, code, handle) => {
    const url = await listen(handle);
    await expect(discover(url, { timeout: 300 })).rejects.toMatchObject({ code });
  });

  it("stops when it is aborted", async () => {
    const controller = new AbortController();
    const url = await listen(() => controller.abort(new Error("enough")));
    await expect(discover(url, { signal: controller.signal })).rejects.toThrow("enough");
  });

  it("keeps members that it does not know, __proto__ among them, as they came", async () => {
    const text = `{"issuer":"${issuer}","x_own":[1],"__proto__":{"polluted":true}}`;
    const metadata = await discover(issuer, { fetch: () => new Response(text) });
    expect(metadata["x_own"]).toEqual([1]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
