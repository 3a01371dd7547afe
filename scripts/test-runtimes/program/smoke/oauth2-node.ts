import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuth2Client, TokenManager } from "@fetchwork/oauth2";
import { nodeTransport } from "@fetchwork/oauth2/node";
import { FileTokenStore } from "@fetchwork/oauth2/node/store";
import { expect, type Platform } from "../platform.ts";

/** Gets a token over connections of undici, and finds it again in its file. */
export async function smoke(platform: Platform): Promise<void> {
  let asked = 0;
  const listener = await platform.listen((request) => {
    asked += 1;
    const isForm =
      request.headers.get("content-type")?.startsWith("application/x-www-form") === true;
    if (!isForm) return Response.json({ error: "invalid_request" }, { status: 400 });
    return Response.json({ access_token: "kept", token_type: "Bearer", expires_in: 3600 });
  });
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  const transport = nodeTransport();
  try {
    for (let process = 0; process < 2; process += 1) {
      const client = new OAuth2Client("id", "secret", { site: listener.origin, fetch: transport });
      const manager = new TokenManager(client, {
        grant: () => client.clientCredentials.getToken(),
        store: new FileTokenStore(folder),
        key: "smoke",
      });
      expect("a token", (await manager.getToken()).token, "kept");
    }
    expect("token requests", asked, 1);
  } finally {
    await transport.close();
    await rm(folder, { recursive: true, force: true });
    await listener.close();
  }
}
