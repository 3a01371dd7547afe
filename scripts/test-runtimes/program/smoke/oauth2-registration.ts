import { registerClient } from "@fetchwork/oauth2/oidc/registration";
import { expect, type Platform } from "../platform.ts";

/** Registers a client at a small server. */
export async function smoke(platform: Platform): Promise<void> {
  const listener = await platform.listen(async (request) =>
    Response.json({ ...(await request.json()), client_id: "app" }, { status: 201 }),
  );
  const issuer = listener.origin;
  const server = { issuer, registration_endpoint: `${issuer}/register` };
  const redirect_uris = ["https://app.example/callback"];
  const registered = await registerClient(server, { redirect_uris });
  expect("the client", [registered.client_id, registered["redirect_uris"]], ["app", redirect_uris]);
  await listener.close();
}
