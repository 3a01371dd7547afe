import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openIdConnect,
  signIn,
  signInProvider,
  type SignedIn,
  type SignIn,
} from "../../src/sign-in/index.ts";
import { Browser, closeServer, startProvider, type ProviderServer } from "../provider-server.ts";
import { secret } from "./handlers.ts";

const clientSecret = "a secret of the client, of thirty-two bytes";
const signedIn: SignedIn[] = [];
const logouts: unknown[] = [];
let app: Server;
let origin: string;
let server: ProviderServer;
let auth: SignIn;

async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/login") return auth.login(request);
  if (pathname === "/callback") return auth.callback(request);
  if (pathname === "/logout") return auth.logout(request);
  if (pathname === "/backchannel") return auth.backchannelLogout(request);
  return new Response(`page ${pathname}, ${request.headers.get("cookie")}`);
}

beforeAll(async () => {
  app = createServer(toNodeListener(handle));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  server = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [
      {
        client_id: "app",
        client_secret: clientSecret,
        redirect_uris: [`${origin}/callback`],
        post_logout_redirect_uris: [`${origin}/bye`],
        backchannel_logout_uri: `${origin}/backchannel`,
        backchannel_logout_session_required: true,
      },
    ],
    // Without its dispatcher, which refuses to call this machine.
    fetch: (url, { method = "GET", headers = {}, body = null } = {}) =>
      fetch(url, { method, headers, body }),
    features: {
      userinfo: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = form;
        },
      },
    },
  }));
  const provider = signInProvider(openIdConnect(server.issuer), {
    clientId: "app",
    clientSecret,
    redirectUri: `${origin}/callback`,
  });
  auth = signIn(provider, {
    secret,
    postLogoutRedirectUri: `${origin}/bye`,
    onSignedIn: (one) => {
      signedIn.push(one);
      return new Response(null, {
        status: 303,
        headers: { location: one.returnTo ?? "/", "set-cookie": "session=1; HttpOnly" },
      });
    },
    onSignOut: () => {
      const idToken = signedIn.at(-1)?.token.idToken;
      return { headers: { "set-cookie": "session=; Max-Age=0" }, idToken };
    },
    onLogout: (logout) => {
      logouts.push(logout);
    },
  });
});

afterAll(async () => {
  await closeServer(app);
  await server.close();
});

describe("with a real provider, over sockets", () => {
  it("a browser signs in, and out, of which the provider tells the application", async () => {
    const browser = new Browser();
    const page = await browser.open(`${origin}/login?returnTo=/account`);
    expect(page.url.href).toBe(`${origin}/account`);
    expect(page.text).toContain("session=1");
    expect(signedIn[0]?.profile).toEqual({
      issuer: server.issuer,
      id: "user-1",
      email: "ada@example.com",
      emailVerified: true,
      name: "Ada",
      picture: undefined,
    });
    const sid = signedIn[0]?.claims?.sid;
    const confirm = await browser.open(`${origin}/logout`, "none", {});
    expect(confirm.url.pathname).toBe("/session/end");
    const xsrf = /name="xsrf" value="(\w+)"/.exec(confirm.text)?.[1] ?? "";
    const form = { xsrf, logout: "yes" };
    const bye = await browser.open(`${server.issuer}/session/end/confirm`, `${origin}/bye`, form);
    expect(bye.url.pathname).toBe("/bye");
    expect(logouts).toEqual([{ sub: "user-1", sid }]);
  });

  it("a callback that is repeated, or opened in another browser, is a page with status 400", async () => {
    const browser = new Browser();
    const callback = await browser.open(`${origin}/login`, `${origin}/callback`);
    expect((await fetch(callback.url, { redirect: "manual" })).status).toBe(400);
    expect((await browser.open(callback.url)).url.pathname).toBe("/");
    const again = await browser.open(callback.url);
    expect(again.text).toContain('"status":400');
    expect(signedIn).toHaveLength(2);
  });

  it("a code that the provider has taken already is refused", async () => {
    const browser = new Browser();
    const other = new Browser();
    const first = await browser.open(`${origin}/login`, `${origin}/callback`);
    const second = await other.open(`${origin}/login`, `${origin}/callback`);
    // The code of someone else, put into a sign-in that is under way.
    const forged = new URL(second.url);
    forged.searchParams.set("code", first.url.searchParams.get("code") ?? "");
    expect((await other.open(forged)).text).toContain('"code":"invalid_grant"');
    expect(signedIn).toHaveLength(2);
  });

  it("a provider that is not there is a page with status 503", async () => {
    const gone = signInProvider(openIdConnect("http://127.0.0.1:9"), {
      clientId: "app",
      redirectUri: `${origin}/callback`,
    });
    const { login } = signIn(gone, { secret, onSignedIn: () => undefined });
    const response = await login(new Request(`${origin}/login`));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "10"]);
  });
});
