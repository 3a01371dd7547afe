import { authorizedFetch, OAuth2Client, OAuth2Error, TokenManager } from "@fetchwork/oauth2";
import { expect, type Platform } from "../platform.ts";

/**
 * Signs in with a code and PKCE at a small token endpoint, refreshes the token, and sends it with a
 * request.
 */
export async function smoke(platform: Platform): Promise<void> {
  let challenge = "";
  let refreshes = 0;
  const listener = await platform.listen(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/items") {
      const bearer = request.headers.get("authorization");
      // What the first token is refused for, only a refresh mends.
      return Response.json([bearer], { status: bearer === "Bearer first" ? 401 : 200 });
    }
    if (request.headers.get("authorization") !== `Basic ${btoa("id:secret")}`) {
      return Response.json({ error: "invalid_client" }, { status: 401 });
    }
    const form = new URLSearchParams(await request.text());
    if (form.get("grant_type") === "refresh_token") {
      refreshes += 1;
      return Response.json({ access_token: "second", token_type: "Bearer", expires_in: 3600 });
    }
    const isRight =
      form.get("code") === "right" && challenge === (await s256(form.get("code_verifier") ?? ""));
    if (!isRight) return Response.json({ error: "invalid_grant" }, { status: 400 });
    return Response.json({
      access_token: "first",
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: "more",
    });
  });

  const redirectUri = "https://app.example/callback";
  const client = new OAuth2Client("id", "secret", { site: listener.origin, redirectUri });
  const { url, transaction } = await client.authCode.start({ scope: "read" });
  const asked = new URL(url).searchParams;
  expect("the method of PKCE", asked.get("code_challenge_method"), "S256");
  challenge = asked.get("code_challenge") ?? "";
  const back = (code: string): string => `${redirectUri}?code=${code}&state=${asked.get("state")}`;
  const refused: unknown = await client.authCode
    .callback(back("wrong"), transaction)
    .catch((error: unknown) => error);
  expect("a wrong code", refused instanceof OAuth2Error, true);
  const token = await client.authCode.callback(back("right"), transaction);
  expect("a token", token.token, "first");

  const manager = new TokenManager(client);
  await manager.set(token);
  const send = authorizedFetch(manager);
  const answers = await Promise.all([send("/items"), send("/items")]);
  const sent: unknown[] = await Promise.all(answers.map((answer) => answer.json()));
  expect("requests with a fresh token", sent, [["Bearer second"], ["Bearer second"]]);
  expect("one refresh for both", refreshes, 1);
  await listener.close();
}

async function s256(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const text = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
