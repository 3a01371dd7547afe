import { describe, expect, it } from "vitest";
import { masterKey } from "../api-client.ts";
import { openAccounts } from "./open-accounts.ts";

const access_token = masterKey;
const right = ["ada@example.com", "123456"] as const;

describe("signing in", () => {
  it.each([
    ["no key", {}, right, /^Bearer/],
    ["a wrong key", { access_token: "x".repeat(32) }, right, /^Bearer/],
    ["no credentials", { access_token }, undefined, /^Basic/],
    ["a wrong password", { access_token }, [right[0], "1234567"] as const, /^Basic/],
    ["an unknown email", { access_token }, ["eve@example.com", "123456"] as const, /^Basic/],
    ["no password", { access_token }, [right[0], ""] as const, /^Basic/],
  ])("is refused with %s", async (_what, form, basic, challenge) => {
    const api = await openAccounts();
    await api.join(right[0]);
    const refused = await api.send("POST", "/auth", basic ? { form, basic } : { form });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toMatch(challenge);
  });

  it("is refused to scripts of pages without a challenge that opens a dialog of the browser", async () => {
    const api = await openAccounts();
    const headers = { "sec-fetch-dest": "empty", "sec-fetch-mode": "cors" };
    const script = await api.send("POST", "/auth", { form: { access_token }, headers });
    expect(script.status).toBe(401);
    expect(script.headers.get("www-authenticate")).toBe('xBasic realm="api", charset="UTF-8"');
    const opened = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
    const page = await api.send("POST", "/auth", { form: { access_token }, headers: opened });
    expect(page.headers.get("www-authenticate")).toBe('Basic realm="api", charset="UTF-8"');
    const withoutKey = await api.send("POST", "/auth", { headers });
    expect(withoutKey.headers.get("www-authenticate")).toMatch(/^Bearer /);
  });

  it("answers the same for an unknown email as for a wrong password", async () => {
    const api = await openAccounts();
    await api.join(right[0]);
    const attempt = async (email: string): Promise<unknown> => {
      const { status, json } = await api.send("POST", "/auth", {
        form: { access_token },
        basic: [email, "wrong password"],
      });
      return { status, json };
    };
    expect(await attempt("eve@example.com")).toEqual(await attempt(right[0]));
  });

  it("yields a token and the user, and is not cached", async () => {
    const api = await openAccounts();
    const { id } = await api.join(right[0]);
    const basic = [" ADA@example.com", right[1]] as const;
    const { status, headers, json } = await api.send("POST", "/auth", {
      form: { access_token },
      basic,
    });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(["token", "expiresIn", "refreshToken", "user"]);
    expect(json.user).toMatchObject({ id, email: right[0], role: "user" });
    expect(headers.get("cache-control")).toBe("no-store");
    const claims = JSON.parse(Buffer.from(json.token.split(".")[1], "base64url").toString());
    expect(claims).toMatchObject({ sub: id, sv: 1 });
    expect(claims.exp - claims.iat).toBe(86_400);
  });

  it("takes the key from the query, where Basic takes the header", async () => {
    const api = await openAccounts();
    await api.join(right[0]);
    const { status } = await api.send("POST", `/auth?access_token=${masterKey}`, { basic: right });
    expect(status).toBe(201);
  });

  it("ends everywhere by signing out", async () => {
    const api = await openAccounts();
    const { token } = await api.join(right[0]);
    const other = await api.send("POST", "/auth", { form: { access_token }, basic: right });
    expect((await api.send("DELETE", "/auth")).status).toBe(401);
    expect((await api.send("DELETE", "/auth", { token })).status).toBe(204);
    for (const ended of [token, other.json.token]) {
      expect((await api.send("GET", "/users/me", { token: ended })).status).toBe(401);
    }
    const again = await api.send("POST", "/auth", { form: { access_token }, basic: right });
    expect((await api.send("GET", "/users/me", { token: again.json.token })).status).toBe(200);
  });
});

describe("a token", () => {
  it("is refused in two places at once", async () => {
    const api = await openAccounts();
    const { token } = await api.join(right[0]);
    for (const path of [`/users/me?access_token=${token}`, `/users/me?access_token=${masterKey}`]) {
      const refused = await api.send("GET", path, { token });
      expect(refused.json).toMatchObject({ status: 400, param: "access_token", name: "once" });
    }
    const twice = await api.send("GET", `/users/me?access_token=${token}&access_token=${token}`);
    expect(twice.status).toBe(400);
  });

  it("tells in the challenge when it is the one shown that does not hold", async () => {
    const api = await openAccounts();
    const refused = await api.send("GET", "/users/me", { token: "a.b.c" });
    expect(refused.headers.get("www-authenticate")).toBe(
      'Bearer realm="api", error="invalid_token"',
    );
  });
});
