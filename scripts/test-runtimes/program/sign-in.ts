import { expect } from "./platform.ts";

/** Makes a user of the API of notes and signs it in; returns its token. */
export async function signIn(
  origin: string,
  { masterKey, email }: { readonly masterKey: string; readonly email: string },
): Promise<string> {
  const password = "correct horse";
  const made = await fetch(`${origin}/users`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${masterKey}` },
    body: JSON.stringify({ email, password }),
  });
  await made.body?.cancel();
  expect("signing up", made.status, 201);
  const ask = (secret: string): Promise<Response> =>
    fetch(`${origin}/auth?access_token=${encodeURIComponent(masterKey)}`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${email}:${secret}`)}` },
    });
  const refused = await ask("wrong password");
  await refused.body?.cancel();
  expect("a wrong password", refused.status, 401);
  const signedIn = await ask(password);
  expect("signing in", signedIn.status, 201);
  const { token } = (await signedIn.json()) as { readonly token: string };
  return token;
}
