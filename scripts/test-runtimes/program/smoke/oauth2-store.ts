import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccessToken, OAuth2Client, TokenManager } from "@fetchwork/oauth2";
import { FileTokenStore } from "@fetchwork/oauth2/node/store";
import { expect, type Platform } from "../platform.ts";

/** Refreshes a token that is kept in a file, once for two managers. */
export async function smoke(platform: Platform): Promise<void> {
  let asked = 0;
  const listener = await platform.listen(() => {
    asked += 1;
    return Response.json({ access_token: `fresh ${asked}`, expires_in: 3600 });
  });
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  try {
    const client = new OAuth2Client("id", "secret", { site: listener.origin });
    const manager = (): TokenManager =>
      new TokenManager(client, { store: new FileTokenStore(folder), key: "smoke" });
    const old = { access_token: "old", refresh_token: "R", expires_at: 1 };
    await manager().set(AccessToken.fromHash(client, old));
    const tokens = await Promise.all([manager().getToken(), manager().getToken()]);
    expect("the tokens", tokens.map(({ token }) => token).join(), "fresh 1,fresh 1");
    expect("token requests", asked, 1);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await listener.close();
  }
}
