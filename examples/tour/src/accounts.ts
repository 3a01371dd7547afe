import type { Client } from "@fetchwork/http";
import { apiAt } from "./api.ts";

/** A user to be. */
export interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly role: "user" | "admin";
}

/** Creates a user with the master key, signs it in with its password, and returns its token. */
export async function join(
  client: Client,
  {
    origin,
    masterKey,
    user,
  }: { readonly origin: string; readonly masterKey: string; readonly user: NewUser },
): Promise<string> {
  const api = apiAt(origin);
  const options = { throwOnStatus: true };
  await client.send(api("POST /users", { ...user, access_token: masterKey }), options);
  const authorization = `Basic ${btoa(`${user.email}:${user.password}`)}`;
  const request = api("POST /auth", { headers: { authorization }, access_token: masterKey });
  return (await client.send(request, options)).json<{ token: string }>().token;
}
