import { describe, expect, it } from "vitest";
import {
  atProvider,
  audience,
  callbackUrl,
  clientSecret,
  home,
  openTestApi,
  user,
  useProvider,
} from "./provider-api.ts";

useProvider();

describe("access with a token of the provider", () => {
  /** Gets an access token as another application of the user does. */
  async function accessToken(
    resource: string,
    client = "blog",
  ): Promise<{ access_token: string; id_token: string }> {
    const redirect = callbackUrl();
    const verifier = "v".repeat(43);
    const digest = await crypto.subtle.digest("SHA-256", Buffer.from(verifier));
    const url = new URL(`${home.provider.issuer}/auth`);
    url.search = new URLSearchParams({
      client_id: client,
      response_type: "code",
      redirect_uri: redirect,
      scope: "openid email",
      resource,
      code_challenge: Buffer.from(digest).toString("base64url"),
      code_challenge_method: "S256",
    }).toString();
    const callback = await atProvider(url.href, new URL(callbackUrl()).origin);
    const response = await fetch(`${home.provider.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(clientSecret)}`)}` },
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: callback.searchParams.get("code") ?? "",
        redirect_uri: redirect,
        code_verifier: verifier,
      }),
    });
    return (await response.json()) as { access_token: string; id_token: string };
  }

  it("is that of the linked user, with the rules of that user", async () => {
    const api = await openTestApi();
    const { json } = await api.signIn();
    const { access_token: token } = await accessToken(audience, "other-app");
    const me = await api.get("/users/me", token);
    expect([me.status, me.json]).toMatchObject([
      200,
      { id: json.user.id, email: "ada@example.com" },
    ]);
    expect((await api.get("/users", token)).status).toBe(403);
    const changed = await fetch(`${api.origin}/users/me`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ name: "by token" }),
    });
    expect(changed.status).toBe(200);
    const twice = await api.get(`/users/me?access_token=${json.token}`, token);
    expect(twice.status).toBe(400);
  });

  it("is found when the settings write the issuer with a slash", async () => {
    const api = await openTestApi(`${home.provider.issuer}/`);
    const { json } = await api.signIn();
    const { access_token: token } = await accessToken(audience);
    expect((await api.get("/users/me", token)).json.id).toBe(json.user.id);
  });

  it("is refused for another audience, an ID token, a changed token, and a user who is not linked", async () => {
    const api = await openTestApi();
    const good = await accessToken(audience);
    expect((await api.get("/users/me", good.access_token)).status).toBe(401);
    await api.signIn();
    expect((await api.get("/users/me", good.access_token)).status).toBe(200);
    const [header = "", payload = "", signature = ""] = good.access_token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const other = Buffer.from(JSON.stringify({ ...claims, sub: "user-2" })).toString("base64url");
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url");
    const foreign = await accessToken("https://other.example");
    for (const token of [
      foreign.access_token,
      good.id_token,
      `${header}.${other}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${payload}.`,
    ]) {
      const refused = await api.get("/users/me", token);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
        401,
        'Bearer realm="api", error="invalid_token"',
      ]);
    }
  });

  it("ends with the user", async () => {
    const api = await openTestApi();
    const { json } = await api.signIn();
    const { access_token: token } = await accessToken(audience);
    await api.store.collection(user.collection).remove(json.user.id);
    expect((await api.get("/users/me", token)).status).toBe(401);
  });
});
