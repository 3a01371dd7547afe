import {
  calculateJwkThumbprint,
  decodeJwt,
  EmbeddedJWK,
  exportJWK,
  generateKeyPair,
  jwtVerify,
} from "jose";
import { describe, expect, it } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  withAccessToken,
  OAuth2Client,
  OAuth2Response,
} from "../../src/index.ts";
import { DPoP } from "../../src/oidc/index.ts";
import type { DPoPAlgorithm } from "../../src/oidc/requests/dpop.ts";

const url = "https://api.example/items?page=2#top";

const prove = (dpop: DPoP, method: string, target: string, token?: string): Promise<string> =>
  dpop.prove({ method, url: new URL(target), token });

/** Shows a key the nonce of a response. */
function remember(dpop: DPoP, target: string, nonce: string | null): void {
  const headers = new Headers(nonce === null ? {} : { "dpop-nonce": nonce });
  const response = new OAuth2Response({ status: 200, headers, body: "", url: target });
  const request = { method: "GET", url: new URL(target), token: undefined };
  expect(dpop.accept(response, request)).toBe(false);
}

const nonceFor = async (dpop: DPoP, target: string): Promise<unknown> =>
  decodeJwt(await prove(dpop, "GET", target))["nonce"];

describe("DPoP.generate and DPoP.fromKeys", () => {
  it.each(["none", "HS256", "RS1", undefined])("refuse the algorithm %s", async (algorithm) => {
    const keys = await generateKeyPair("ES256");
    await expect(
      DPoP.fromKeys({ ...keys, algorithm: algorithm as DPoPAlgorithm }),
    ).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("refuse keys that are no pair", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    for (const wrong of [
      { privateKey: publicKey, publicKey },
      { privateKey, publicKey: privateKey },
      { privateKey: undefined as never, publicKey },
    ]) {
      await expect(DPoP.fromKeys({ ...wrong, algorithm: "ES256" })).rejects.toMatchObject({
        code: "ERR_OAUTH_OPTION",
      });
    }
  });

  it("give the thumbprint of the public key", async () => {
    const keys = await generateKeyPair("ES256");
    const dpop = await DPoP.fromKeys({ ...keys, algorithm: "ES256" });
    expect(dpop.thumbprint).toBe(await calculateJwkThumbprint(await exportJWK(keys.publicKey)));
  });
});

describe("DPoP.prove", () => {
  it.each(["ES256", "ES384", "Ed25519", "PS256", "RS256"] as const)(
    "makes a proof with %s that its own key verifies",
    async (algorithm) => {
      const dpop = await DPoP.generate({ algorithm });
      const proof = await prove(dpop, "POST", url);
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [algorithm],
      });
      expect(payload).toEqual({
        jti: expect.stringMatching(/^[\w-]{43}$/),
        htm: "POST",
        htu: "https://api.example/items",
        iat: expect.any(Number),
      });
      expect(Math.abs((payload.iat ?? 0) - Date.now() / 1000)).toBeLessThan(5);
      expect(Object.keys(protectedHeader.jwk ?? {})).not.toContain("d");
    },
  );

  it("is a new one each time", async () => {
    const dpop = await DPoP.generate();
    const [one, two] = [await prove(dpop, "GET", url), await prove(dpop, "GET", url)];
    expect(decodeJwt(one).jti).not.toBe(decodeJwt(two).jti);
  });

  it("names the access token by its hash", async () => {
    const dpop = await DPoP.generate();
    // RFC 9449, 7.1.
    const accessToken = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    const proof = await prove(dpop, "GET", url, accessToken);
    expect(decodeJwt(proof)).toMatchObject({ ath: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo" });
  });
});

describe("the nonces of DPoP", () => {
  it("are kept apart, the last one of each origin", async () => {
    const dpop = await DPoP.generate();
    remember(dpop, "https://a.example/x", "n0");
    remember(dpop, "https://a.example/y", "n1");
    remember(dpop, "https://a.example:8443/", "n2");
    expect(await nonceFor(dpop, "https://a.example/z")).toBe("n1");
    expect(await nonceFor(dpop, "https://a.example:8443/z")).toBe("n2");
    expect(await nonceFor(dpop, "https://b.example/")).toBeUndefined();
  });

  it.each([null, "", 'a"b', "a b", "a\\b", "é", "x".repeat(1025)])(
    "are ignored when malformed: %j",
    async (nonce) => {
      const dpop = await DPoP.generate();
      remember(dpop, url, nonce);
      expect(await nonceFor(dpop, url)).toBeUndefined();
    },
  );

  it("are forgotten of the least recent of more than a hundred origins", async () => {
    const dpop = await DPoP.generate();
    for (let index = 0; index <= 100; index += 1) {
      remember(dpop, `https://h${index}.example`, "n");
      remember(dpop, "https://h0.example", "n");
    }
    expect(await nonceFor(dpop, "https://h0.example")).toBe("n");
    expect(await nonceFor(dpop, "https://h100.example")).toBe("n");
    expect(await nonceFor(dpop, "https://h1.example")).toBeUndefined();
  });
});

describe("DPoP.accept", () => {
  const target = { method: "GET", url: new URL(url), token: undefined };
  const answer = (status: number, headers: HeadersInit, body = ""): OAuth2Response =>
    new OAuth2Response({ status, headers: new Headers(headers), body, url });
  const challenge = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n" };
  const json = { "content-type": "application/json", "dpop-nonce": "n" };

  it.each([
    ["a challenge of a resource", true, answer(401, challenge)],
    ["an error of a server", true, answer(400, json, '{"error":"use_dpop_nonce"}')],
    ["another error", false, answer(400, json, '{"error":"invalid_grant"}')],
    ["a challenge without a nonce", false, answer(401, { ...challenge, "dpop-nonce": "" })],
    ["a nonce with a success", false, answer(200, { "dpop-nonce": "n" })],
    ["another status", false, answer(403, challenge)],
  ])("says for %s whether to send again: %s", async (_case, expected, response) => {
    expect((await DPoP.generate()).accept(response, target)).toBe(expected);
  });

  it("asks again though another request has brought the nonce in the meantime", async () => {
    const dpop = await DPoP.generate();
    expect(dpop.accept(answer(401, challenge), target)).toBe(true);
    expect(dpop.accept(answer(401, challenge), target)).toBe(true);
  });
});

describe("a client with DPoP", () => {
  const fetchWith =
    (accepts: (nonce: unknown) => boolean, sent: unknown[]) =>
    async (request: Request): Promise<Response> => {
      const { nonce } = decodeJwt(request.headers.get("dpop") ?? "");
      sent.push(nonce);
      if (accepts(nonce)) return Response.json({ access_token: "AT", token_type: "DPoP" });
      const headers = {
        "dpop-nonce": "n",
        "www-authenticate": 'DPoP error="use_dpop_nonce"',
      };
      return Response.json({ error: "use_dpop_nonce" }, { status: 401, headers });
    };

  it("repeats each of several requests that were refused for want of one nonce", async () => {
    const dpop = await DPoP.generate();
    const fetch = fetchWith((nonce) => nonce === "n", []);
    const client = new OAuth2Client("id", null, { site: "https://as.example", dpop, fetch });
    const tokens = await Promise.all([1, 2, 3].map(() => client.clientCredentials.getToken()));
    expect(tokens.map(({ token }) => token)).toEqual(["AT", "AT", "AT"]);
  });

  it("has bearer follow redirects itself, so that each gets a separate proof", async () => {
    const dpop = await DPoP.generate();
    const client = new OAuth2Client("id", null, { site: "https://as.example", dpop });
    const seen: string[] = [];
    const fetch = (request: Request): Response => {
      seen.push(request.redirect);
      return new Response(null);
    };
    for (const hash of [{ token_type: "DPoP" }, { mode: "query" }, {}]) {
      const token = AccessToken.fromHash(client, { access_token: "AT", ...hash });
      await withAccessToken(token)(fetch)(new Request("https://as.example/r"), undefined);
    }
    expect(seen).toEqual(["manual", "manual", "manual"]);
  });

  it("sends each request twice at most, whatever the server wants", async () => {
    const dpop = await DPoP.generate();
    const sent: unknown[] = [];
    const fetch = fetchWith(() => false, sent);
    const client = new OAuth2Client("id", null, { site: "https://as.example", dpop, fetch });
    const token = AccessToken.fromHash(client, { access_token: "AT", token_type: "DPoP" });
    const api = authorizedFetch(token);
    const viaBearer = withAccessToken(token)(fetch);
    const calls = [
      () => client.clientCredentials.getToken(),
      () => token.get("/r"),
      () => api("/r"),
      async () => viaBearer(new Request("https://as.example/r"), undefined),
    ];
    for (const call of calls) {
      sent.length = 0;
      await call().catch((error: unknown) => error);
      // The first call brings the nonce to the others.
      expect(sent.at(-1)).toBe("n");
      expect(sent).toHaveLength(2);
    }
  });
});
