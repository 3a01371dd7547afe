import { openStore } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { createApi } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { expect, type Platform } from "../platform.ts";

/** Signs a user up and in, and ends the session. */
export async function smoke(_platform: Platform): Promise<void> {
  const store = await openStore("sqlite::memory:");
  const account = accounts({ user: defineUser(), signUp: "public", signIn: "public" });
  const { authentication, routes } = account.open(store, {
    title: "Test",
    masterKey: "m".repeat(32),
    jwtSecret: "j".repeat(32),
  });
  const { handler } = createApi({ title: "T", version: "1", store, authentication, routes });
  const send = async (method: string, path: string, init: RequestInit = {}): Promise<Response> =>
    runHandler(handler, new Request(`http://localhost${path}`, { method, ...init }));
  const form = { email: "ada@example.com", password: "analytical" };
  const up = await send("POST", "/users", { body: new URLSearchParams(form) });
  expect("a sign-up", up.status, 201);
  const basic = { authorization: `Basic ${btoa("ada@example.com:analytical")}` };
  const signedIn = await send("POST", "/auth", { headers: basic });
  expect("a sign-in", signedIn.status, 201);
  const { refreshToken } = (await signedIn.json()) as { readonly refreshToken: string };
  const refreshed = await send("POST", "/auth/refresh", {
    body: new URLSearchParams({ refreshToken }),
  });
  expect("a refresh", refreshed.status, 200);
  const { token } = (await refreshed.json()) as { readonly token: string };
  const headers = { authorization: `Bearer ${token}` };
  expect("the user", (await send("GET", "/users/me", { headers })).status, 200);
  expect("an end", (await send("DELETE", "/auth", { headers })).status, 204);
  expect("a token of an ended session", (await send("GET", "/users/me", { headers })).status, 401);
  await store.close();
}
