import { providers, signIn, signInProvider } from "@fetchwork/oauth2/sign-in";
import { expect } from "../platform.ts";

/** Signs in at a stand-in of GitHub; the same callback a second time is refused. */
export async function smoke(): Promise<void> {
  const answers: Readonly<Record<string, unknown>> = {
    "/login/oauth/access_token": { access_token: "t", token_type: "bearer" },
    "/user": { id: 1, login: "ada" },
    "/user/emails": [{ email: "ada@example.com", primary: true, verified: true }],
  };
  const origin = "https://app.example";
  const provider = signInProvider(providers.github, {
    clientId: "app",
    clientSecret: "secret",
    redirectUri: `${origin}/callback`,
    fetch: (request) => Promise.resolve(Response.json(answers[new URL(request.url).pathname])),
  });
  const { login, callback } = signIn(provider, {
    secret: "a secret of at least thirty-two characters",
    onSignedIn: ({ profile }) => `/${profile.email}`,
  });
  const started = await login(new Request(`${origin}/login`));
  const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
  const [cookie = ""] = (started.headers.get("set-cookie") ?? "").split(";");
  const url = `${origin}/callback?code=c&state=${state}`;
  const done = await callback(new Request(url, { headers: { cookie } }));
  expect("where the user goes", done.headers.get("location"), `${origin}/ada@example.com`);
  expect("another browser", (await callback(new Request(url))).status, 400);
}
