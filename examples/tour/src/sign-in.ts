import { strict as assert } from "node:assert";
import { Client } from "@fetchwork/http";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import { CookieJar } from "tough-cookie";
import { apiAt } from "./api.ts";
import { providerName } from "./blog.ts";
import { ada } from "./openid-provider.ts";

/** What a user sees of itself. */
export interface User {
  readonly id: string;
  readonly email: string;
}

/**
 * Where the provider sends the browser of the tour back to. Nobody listens there: the tour reads
 * the URL.
 */
export const redirectUri = "https://tour.example/callback";

/**
 * Signs Ada in at the blog, as her browser does: by every redirect, with all cookies. Makes her a
 * user.
 */
export async function signInAtBlog(origin: string): Promise<User> {
  const browser = new Client({ cookies: new CookieJar(), throwOnStatus: true });
  try {
    const request = apiAt(origin)("GET /auth/{provider}", { provider: providerName });
    const { user } = (await browser.send(request)).json<{ user: User }>();
    assert.equal(user.email, ada.email);
    return user;
  } finally {
    await browser.close();
  }
}

/** Gets an access token for an API: authorization code with PKCE, as a public client. */
export async function getAccessToken(
  issuer: string,
  { clientId, audience }: { readonly clientId: string; readonly audience: string },
): Promise<string> {
  const client = await OidcClient.discover(issuer, clientId, null, { redirectUri });
  const wanted = { scope: "openid email profile", resource: audience };
  const { url, transaction } = await client.authCode.start(wanted);
  assert.equal(new URL(url).searchParams.get("code_challenge_method"), "S256");
  const token = await client.authCode.callback(await redirected(url), transaction);
  assert.equal(client.claims(token)?.sub, ada.sub);
  return token.token;
}

/** Follows redirects until one leads back to the tour. */
async function redirected(start: string): Promise<URL> {
  const browser = new Client({ cookies: new CookieJar(), redirect: false });
  try {
    let url = new URL(start);
    for (let hop = 0; hop < 10; hop += 1) {
      const response = await browser.send({ baseUrl: url.href });
      const location = response.header("location");
      assert.ok(location !== undefined, `no redirect, but ${response.statusCode}`);
      url = new URL(location, url);
      if (url.href.startsWith(redirectUri)) return url;
    }
    throw new Error("too many redirects");
  } finally {
    await browser.close();
  }
}
