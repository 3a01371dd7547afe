import { describe, expect, it, vi } from "vitest";
import { idToken, issuer, now, sign } from "../scripted-provider.ts";
import { handlersOf } from "./handlers.ts";

describe("logout()", () => {
  const url = "https://app.example/logout";

  it("refuses other methods, and requests of other sites", async () => {
    const onSignOut = vi.fn<() => undefined>();
    const { auth } = handlersOf({ onSignOut });
    expect((await auth.logout(new Request(url))).status).toBe(405);
    const foreign = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const headers of foreign) {
      const request = new Request(url, {
        method: "POST",
        headers: new Headers(Object.entries(headers)),
      });
      expect((await auth.logout(request)).status).toBe(403);
    }
    expect(onSignOut).not.toHaveBeenCalled();
  });

  it("ends the session here, and sends the browser to the provider", async () => {
    const { auth } = handlersOf({
      onSignOut: () => ({ headers: { "set-cookie": "session=; Max-Age=0" }, idToken: "i.d.t" }),
      postLogoutRedirectUri: "https://app.example/bye",
    });
    const request = new Request(url, {
      method: "POST",
      headers: { origin: "https://app.example" },
    });
    const response = await auth.logout(request);
    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie()).toEqual(["session=; Max-Age=0"]);
    const { searchParams, pathname } = new URL(response.headers.get("location") ?? "");
    expect(pathname).toBe("/logout");
    expect(searchParams.get("id_token_hint")).toBe("i.d.t");
    expect(searchParams.get("post_logout_redirect_uri")).toBe("https://app.example/bye");
  });

  it("ends the session here where the provider has no such endpoint", async () => {
    const { auth } = handlersOf({}, {}, { metadata: { end_session_endpoint: undefined } });
    const response = await auth.logout(new Request(url, { method: "POST" }));
    expect(response.headers.get("location")).toBe("https://app.example/");
  });
});

describe("backchannelLogout()", () => {
  const event = "http://schemas.openid.net/event/backchannel-logout";
  const logoutToken = (claims: object = {}): Promise<string> =>
    sign({
      iss: issuer,
      aud: "app",
      iat: now(),
      exp: now() + 60,
      jti: "j",
      sid: "s",
      events: { [event]: {} },
      ...claims,
    });
  const post = (body: BodyInit): Request =>
    new Request("https://app.example/backchannel", { method: "POST", body });

  it("refuses everything but a logout token of the provider", async () => {
    const onLogout = vi.fn<() => void>();
    const { auth } = handlersOf({ onLogout });
    const form = (logout_token: string): URLSearchParams => new URLSearchParams({ logout_token });
    const twice = new URLSearchParams([
      ["logout_token", "a"],
      ["logout_token", "b"],
    ]);
    const bodies = [
      "text",
      new URLSearchParams(),
      twice,
      form("x"),
      form("x".repeat(100_000)),
      form(await idToken()),
      form(await logoutToken({ aud: "other" })),
      form(await logoutToken({ nonce: "n" })),
    ];
    for (const body of bodies) {
      const response = await auth.backchannelLogout(post(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: "invalid_request" });
    }
    expect(onLogout).not.toHaveBeenCalled();
    expect((await handlersOf().auth.backchannelLogout(post("x"))).status).toBe(404);
  });

  it("calls the hook once for each token", async () => {
    const calls: unknown[] = [];
    const seen = new Set<string>();
    const { auth } = handlersOf({
      onLogout: (logout) => {
        calls.push(logout);
      },
      rememberOnce: (id) => seen.size < seen.add(id).size,
    });
    const body = new URLSearchParams({ logout_token: await logoutToken({ sub: "user" }) });
    const response = await auth.backchannelLogout(post(body));
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect((await auth.backchannelLogout(post(body))).status).toBe(400);
    expect(calls).toEqual([{ sub: "user", sid: "s" }]);
  });
});
