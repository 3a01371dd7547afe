import { json, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { createRemoteJWKSet, errors, exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { createCustomAuthentication } from "../../src/http/authentication.ts";
import { openNotes } from "../custom-notes.ts";

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let keys: Keys;
let others: Keys;
const issuer = "https://id.example";
const audience = "https://api.example";
beforeAll(async () => {
  [keys, others] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
});

/** Makes an access token as the provider does, but for what is given. */
function tokenOf(sub: string, claims: object = {}, key = keys.privateKey): Promise<string> {
  const payload = { sub, iss: issuer, aud: audience, roles: sub === "root" ? ["admin"] : [] };
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "RS256", kid: "one", typ: "at+jwt" };
  return new SignJWT({ ...payload, iat: now, exp: now + 60, ...claims })
    .setProtectedHeader(header)
    .sign(key);
}

/** The API behind the tokens of a provider whose keys come over a socket. */
async function openApi(): ReturnType<typeof openNotes> {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256" };
  const provider: Handler = () => json({ keys: [jwk] });
  const server = await serve(provider, { port: 0, hostname: "127.0.0.1", signals: false });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const jwks = createRemoteJWKSet(new URL("/jwks", server.url));
  const required = { requiredClaims: ["sub", "exp"], typ: "at+jwt" };
  const checks = { issuer, audience, algorithms: ["RS256"], ...required };
  const outages = ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"];
  return openNotes(
    createCustomAuthentication(async (token) => {
      if (token === undefined) return undefined;
      try {
        const { payload } = await jwtVerify(token, jwks, checks);
        const { roles, sub = "" } = payload;
        const isAdmin = Array.isArray(roles) && roles.includes("admin");
        return { id: sub, role: isAdmin ? "admin" : "user" };
      } catch (error) {
        if (error instanceof errors.JOSEError && !outages.includes(error.code)) return undefined;
        throw error;
      }
    }),
  );
}

function unsigned(header: object, payload: object): string {
  const parts = [header, payload].map((part) => Buffer.from(JSON.stringify(part)));
  return `${parts.map((part) => part.toString("base64url")).join(".")}.`;
}

it("an API with tokens of a provider refuses every token that is not the provider's for this API, now", async () => {
  const send = await openApi();
  const past = Math.floor(Date.now() / 1000) - 60;
  const claims = { sub: "root", iss: issuer, aud: audience, exp: past + 120, roles: ["admin"] };
  const { n = "" } = await exportJWK(keys.publicKey);
  const byPublicKey = new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "at+jwt" });
  const forged = await Promise.all([
    tokenOf("root", {}, others.privateKey),
    tokenOf("root", { exp: past }),
    tokenOf("root", { exp: undefined }),
    tokenOf("root", { aud: "https://other.example" }),
    tokenOf("root", { iss: "https://evil.example" }),
    byPublicKey.sign(Buffer.from(n, "base64url")),
  ]);
  const refused = [undefined, "x.y.z", unsigned({ alg: "none", typ: "at+jwt" }, claims), ...forged];
  for (const [index, token] of refused.entries()) {
    const { status, headers } = await send("POST", "/notes", { text: "a" }, { token });
    expect([index, status]).toEqual([index, 401]);
    expect(headers.get("www-authenticate")).toContain("Bearer");
  }
});

it("an API with tokens of a provider applies the rules user, owner and admin by the claims", async () => {
  const send = await openApi();
  const [ann, bob, root] = await Promise.all(["ann", "bob", "root"].map((sub) => tokenOf(sub)));
  const made = await send("POST", "/notes", { text: "a" }, { token: ann });
  expect(made.status).toBe(201);
  const path = `/notes/${made.json.id}`;
  expect((await send("PATCH", path, { text: "b" }, { token: bob })).status).toBe(403);
  expect((await send("PATCH", path, { text: "b" }, { token: ann })).status).toBe(200);
  expect((await send("DELETE", path, undefined, { token: ann })).status).toBe(403);
  expect((await send("DELETE", path, undefined, { token: root })).status).toBe(204);
  expect((await send("GET", "/notes")).status).toBe(200);
});
