import { mcpAuthorization } from "@fetchwork/oauth2/mcp";
import { expect, type Platform } from "../platform.ts";

/** Signs in as an MCP client does, and repeats two refused calls with the token of one refresh. */
export async function smoke(platform: Platform): Promise<void> {
  let asked = 0;
  const listener = await platform.listen((request) => {
    const isToken = new URL(request.url).pathname === "/token";
    if (!isToken) {
      const isFresh = request.headers.get("authorization") === "Bearer A2";
      return new Response(isFresh ? "pong" : "", { status: isFresh ? 200 : 401 });
    }
    asked += 1;
    return Response.json({ access_token: `A${asked}`, refresh_token: `R${asked}` });
  });
  try {
    const redirectUrl = "http://localhost/callback";
    const { authProvider, fetch: send } = mcpAuthorization({ redirectUrl, redirect: () => {} });
    const body = new URLSearchParams({ grant_type: "authorization_code", client_id: "c" });
    const exchanged = await send(`${listener.origin}/token`, { method: "POST", body });
    const { access_token } = (await exchanged.json()) as { access_token: string };
    await authProvider.saveTokens({ access_token, refresh_token: "R1" } as {
      access_token: string;
    });
    const token = (await authProvider.tokens())?.access_token;
    const headers = { authorization: `Bearer ${token}` };
    const call = async (): Promise<string> =>
      (await send(`${listener.origin}/`, { headers })).text();
    expect("the answers", (await Promise.all([call(), call()])).join(), "pong,pong");
    expect("token requests", asked, 2);
  } finally {
    await listener.close();
  }
}
