import { wrap } from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  withAccessToken,
  OAuth2Client,
  TokenManager,
  type AuthorizeOptions,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import type { ProofTarget, RequestProof } from "../../src/connection/proof.ts";
import {
  json,
  startScriptedServer,
  type ScriptedServer,
  type SeenRequest,
} from "../scripted-server.ts";

const seen: SeenRequest[] = [];
let api: ScriptedServer;
let other: ScriptedServer;
let tokens: ScriptedServer;
beforeEach(async () => {
  seen.length = 0;
  api = await startScriptedServer("API", seen, json({ fine: true }));
  other = await startScriptedServer("OTHER", seen, json({ other: true }));
  tokens = await startScriptedServer("TOKENS", [], json({ access_token: "A2" }));
});
afterEach(async () => {
  for (const server of [api, other, tokens]) await server[Symbol.asyncDispose]();
});

function clientOf(options: OAuth2ClientOptions = {}): OAuth2Client {
  const tokenUrl = `${tokens.origin}/token`;
  return new OAuth2Client("id", "secret", { site: api.origin, tokenUrl, ...options });
}

async function managerOf(hash: Record<string, unknown> = {}): Promise<TokenManager> {
  const client = clientOf();
  const manager = new TokenManager(client);
  await manager.set(
    AccessToken.fromHash(client, { access_token: "A1", refresh_token: "R1", ...hash }),
  );
  return manager;
}

type Send = (input: string, init?: RequestInit) => Promise<Response>;

/** The same behaviour, as a `fetch` and as a middleware. */
const kinds: Readonly<
  Record<string, (source: TokenManager | AccessToken, options?: AuthorizeOptions) => Send>
> = {
  authorizedFetch: (source, options) => authorizedFetch(source, options),
  bearer: (source, options) => {
    const send = wrap((request) => fetch(request), withAccessToken(source, options));
    return async (input, init) => send(new Request(new URL(input, api.origin), init));
  },
};

const fetchRequest = (request: Request): Promise<Response> => fetch(request);

const authorizations = (): unknown => seen.map(({ headers }) => headers["authorization"]);
const refusal = json({ error: "invalid_token" }, 401);

describe.each(Object.entries(kinds))("%s", (kind, make) => {
  it("does not let the token leave the site", async () => {
    const send = make(await managerOf());
    if (kind === "bearer") await send(`${other.origin}/x`);
    else
      await expect(send(`${other.origin}/x`)).rejects.toMatchObject({ code: "ERR_OAUTH_TARGET" });
    expect(authorizations()).toEqual(kind === "bearer" ? [undefined] : []);
  });

  it("sends the token to origins that are allowed", async () => {
    const send = make(await managerOf(), { allowedOrigins: [other.origin] });
    await send(`${other.origin}/x`);
    expect(authorizations()).toEqual(["Bearer A1"]);
  });

  it("wants origins where the client has no site", () => {
    const client = new OAuth2Client("id");
    const token = AccessToken.fromHash(client, { access_token: "A" });
    for (const options of [undefined, { allowedOrigins: "site" }] as const) {
      const refusal = expect.objectContaining({ code: "ERR_OAUTH_OPTION" });
      expect(() => make(token, options)).toThrow(refusal);
    }
    expect(() => make(token, { allowedOrigins: "any" })).not.toThrow();
  });

  it("drops the token when it is redirected to another origin", async () => {
    api.script = [{ status: 302, headers: { location: `${other.origin}/x` }, body: "" }];
    await make(await managerOf())("/r");
    expect(seen.map(({ host, headers }) => [host, headers["authorization"]])).toEqual([
      ["API", "Bearer A1"],
      ["OTHER", undefined],
    ]);
  });

  it("renews a token that has expired, before the request", async () => {
    await make(await managerOf({ expires_at: 1 }))("/r");
    expect(authorizations()).toEqual(["Bearer A2"]);
  });

  it("renews a token that was refused, and sends the request once more", async () => {
    api.script = [refusal, json({ fine: true })];
    const response = await make(await managerOf())("/r");
    expect(await response.json()).toEqual({ fine: true });
    expect(authorizations()).toEqual(["Bearer A1", "Bearer A2"]);
  });

  it("sends it once more only once", async () => {
    api.script = [refusal];
    expect((await make(await managerOf())("/r")).status).toBe(401);
    expect(seen).toHaveLength(2);
    expect(tokens.seen).toHaveLength(1);
  });

  it("returns the 401 when the token cannot be renewed, or is one that nobody renews", async () => {
    api.script = [refusal];
    const response = await make(await managerOf({ refresh_token: null }))("/r");
    expect([response.status, await response.json()]).toEqual([401, { error: "invalid_token" }]);
    const token = AccessToken.fromHash(clientOf(), { access_token: "A1", refresh_token: "R1" });
    expect((await make(token)("/r")).status).toBe(401);
    expect(seen).toHaveLength(2);
    expect(tokens.seen).toEqual([]);
  });

  it("does not send a stream twice", async () => {
    api.script = [refusal];
    const body = slowly("once");
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect((await make(await managerOf())("/r", init)).status).toBe(401);
    expect(seen).toMatchObject([{ body: "once" }]);
  });

  it("renews the token that a stream was refused with, for the next request", async () => {
    api.respond = ({ headers }) => (headers["authorization"] === "Bearer A2" ? undefined : refusal);
    const send = make(await managerOf());
    const post = (): Promise<Response> =>
      send("/r", { method: "POST", body: slowly("once"), duplex: "half" } as RequestInit);
    expect([(await post()).status, (await post()).status]).toEqual([401, 200]);
  });

  it("rejects where the caller leaves while a refused token is renewed", async () => {
    api.script = [refusal];
    const leaves = new AbortController();
    tokens.respond = () => {
      leaves.abort(new Error("enough"));
      return undefined;
    };
    const sent = make(await managerOf())("/r", { signal: leaves.signal });
    await expect(sent).rejects.toThrow("enough");
  });

  it("makes one refresh of many requests that were refused", async () => {
    const manager = await managerOf();
    const send = make(manager);
    api.respond = ({ headers }) => (headers["authorization"] === "Bearer A2" ? undefined : refusal);
    const responses = await Promise.all(Array.from({ length: 20 }, () => send("/r")));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(tokens.seen).toHaveLength(1);
  });

  it("keeps method, headers and body, and changes nothing that it was given", async () => {
    const init = Object.freeze({
      method: "PUT",
      body: "text",
      headers: Object.freeze({ "x-a": "1" }),
    });
    await make(await managerOf())("/r", init);
    expect(seen).toMatchObject([
      { method: "PUT", body: "text", headers: { "x-a": "1", authorization: "Bearer A1" } },
    ]);
  });

  it("sends the text of a Request with its length, again after a 401 and after a redirect", async () => {
    const moved = { status: 307, headers: { location: "/moved" }, body: "" };
    api.script = [refusal, moved, json({ fine: true })];
    const text = "x".repeat(200_000);
    const request = new Request(`${api.origin}/r`, { method: "POST", body: text });
    const response =
      kind === "bearer"
        ? await wrap(fetchRequest, withAccessToken(await managerOf()))(request)
        : await authorizedFetch(await managerOf())(request);
    expect(await response.json()).toEqual({ fine: true });
    expect(seen.map(({ body, headers }) => [body.length, headers["content-length"]])).toEqual(
      [1, 2, 3].map(() => [200_000, "200000"]),
    );
    expect(seen[2]?.headers["content-type"]).toBe("text/plain;charset=UTF-8");
  });

  it("sends the token in the query", async () => {
    const send = make(await managerOf({ mode: "query", param_name: "t" }));
    await send("/r?a=1");
    expect(seen.map(({ target }) => target)).toEqual(["/r?a=1&t=A1"]);
  });

  it("ends the wait of a caller who leaves", async () => {
    const controller = new AbortController();
    controller.abort(new Error("gone"));
    const send = make(await managerOf({ expires_at: 1 }));
    await expect(send("/r", { signal: controller.signal })).rejects.toThrow("gone");
    expect(seen).toEqual([]);
  });

  it("sends proofs with a bound token, and once more when a nonce is asked for", async () => {
    const proof = nonceProof();
    const client = clientOf({ dpop: proof });
    const token = AccessToken.fromHash(client, { access_token: "A1", token_type: "DPoP" });
    api.script = [
      {
        ...refusal,
        headers: { "dpop-nonce": "n1", "www-authenticate": 'DPoP error="use_dpop_nonce"' },
      },
      json({ fine: true }),
    ];
    expect((await make(token)("/r")).status).toBe(200);
    expect(seen.map(({ headers }) => [headers["authorization"], headers["dpop"]])).toEqual([
      ["DPoP A1", `GET ${api.origin}/r A1 none`],
      ["DPoP A1", `GET ${api.origin}/r A1 n1`],
    ]);
  });
});

/** A stream that has its text a moment later. */
function slowly(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

function nonceProof(): RequestProof {
  let nonce = "none";
  return {
    prove: async ({ method, url, token }: ProofTarget) => `${method} ${url.href} ${token} ${nonce}`,
    accept(response) {
      nonce = response.headers.get("dpop-nonce") ?? nonce;
      return response.status === 401 && nonce !== "none";
    },
  };
}

describe("authorizedFetch", () => {
  it("takes a Request, with its method, headers and body", async () => {
    const send = authorizedFetch(await managerOf());
    const request = new Request(`${api.origin}/r`, {
      method: "POST",
      body: "x",
      headers: { "x-a": "1" },
    });
    await send(request);
    expect(seen).toMatchObject([
      { method: "POST", body: "x", headers: { "x-a": "1", authorization: "Bearer A1" } },
    ]);
  });

  it("drops the body of a Request with a POST that became a GET", async () => {
    api.script = [{ status: 303, headers: { location: "/done" }, body: "" }, json({ fine: true })];
    const request = new Request(`${api.origin}/r`, { method: "POST", body: "x" });
    const response = await authorizedFetch(await managerOf())(request);
    expect([response.status, response.redirected]).toEqual([200, true]);
    expect(seen.map(({ method, body }) => [method, body])).toEqual([
      ["POST", "x"],
      ["GET", ""],
    ]);
  });

  it.each([301, 302])(
    "sends GET after a POST and a status of %d, as fetch does",
    async (status) => {
      const moved = { status, headers: { location: "/done" }, body: "" };
      for (const [method, next] of [
        ["POST", "GET"],
        ["PUT", "PUT"],
      ] as const) {
        seen.length = 0;
        api.script = [moved, json({ fine: true })];
        const send = authorizedFetch(await managerOf());
        const bare = await fetch(`${api.origin}/r`, { method, body: "x" });
        expect(bare.status).toBe(200);
        const theirs = seen.splice(0);
        api.script = [moved, json({ fine: true })];
        expect((await send("/r", { method, body: "x" })).status).toBe(200);
        const wire = (requests: typeof seen): unknown =>
          requests.map((request) => [request.method, request.body]);
        expect(wire(seen)).toEqual(wire(theirs));
        expect(wire(seen)).toEqual([
          [method, "x"],
          [next, next === "GET" ? "" : "x"],
        ]);
      }
    },
  );

  it("keeps method and body after a 302 in token.post", async () => {
    api.script = [{ status: 302, headers: { location: "/done" }, body: "" }, json({ fine: true })];
    await AccessToken.fromHash(clientOf(), { access_token: "A1" }).post("/r", { body: "x=1" });
    expect(seen.map(({ method, body }) => [method, body])).toEqual([
      ["POST", "x=1"],
      ["POST", "x=1"],
    ]);
  });

  it("refuses paths that would change the host", async () => {
    await expect(authorizedFetch(await managerOf())("//evil.example/x")).rejects.toMatchObject({
      code: "ERR_OAUTH_TARGET",
    });
  });

  it("fails at a redirect where that is wanted, also with a token in the query", async () => {
    api.script = [{ status: 302, headers: { location: "/elsewhere" }, body: "" }];
    const token = AccessToken.fromHash(clientOf(), { access_token: "A1", mode: "query" });
    const send = authorizedFetch(token);
    const refusal = { code: "ERR_OAUTH_REDIRECT" };
    await expect(send("/r", { redirect: "error" })).rejects.toMatchObject(refusal);
    const request = new Request(`${api.origin}/r`, { redirect: "error" });
    await expect(send(request)).rejects.toMatchObject(refusal);
    expect((await send("/r", { redirect: "manual" })).status).toBe(302);
    expect(seen).toHaveLength(3);
  });

  it("does not repeat a request whose body can be read only once", async () => {
    api.script = [refusal, json({ fine: true })];
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("x");
    }
    const body = Object(chunks());
    const init = Object({ method: "POST", body, duplex: "half" });
    const response = await authorizedFetch(await managerOf())("/r", init);
    expect(response.status).toBe(401);
    expect(seen).toMatchObject([{ method: "POST", body: "x" }]);
  });
});

describe("bearer", () => {
  it("leaves an Authorization that is there alone", async () => {
    const send = kinds["bearer"]?.(await managerOf());
    await send?.("/r", { headers: { authorization: "Basic x" } });
    expect(authorizations()).toEqual(["Basic x"]);
  });
});

describe("the platform's fetch", () => {
  it("is called without a `this`, which Workers refuse", async () => {
    const calls: unknown[] = [];
    const platform = globalThis.fetch;
    globalThis.fetch = async function fetchOfWorkers(this: unknown): Promise<Response> {
      calls.push(this);
      return new Response("fine");
    };
    try {
      const send = authorizedFetch(AccessToken.fromHash(clientOf(), { access_token: "A1" }));
      expect(await (await send("/items")).text()).toBe("fine");
    } finally {
      globalThis.fetch = platform;
    }
    expect(calls.every((self) => self === undefined || self === globalThis)).toBe(true);
    expect(calls).toHaveLength(1);
  });
});
