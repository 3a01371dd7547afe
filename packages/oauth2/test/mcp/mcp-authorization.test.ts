import { createMCPClient } from "@ai-sdk/mcp";
import { describe, expect, it } from "vitest";
import { MemoryTokenStore, OAuth2UsageError } from "../../src/index.ts";
import { mcpAuthorization } from "../../src/mcp/index.ts";
import { authorizationOf, call, callAtOnce, naiveProvider, signIn } from "./mcp-calls.ts";
import { startMcpServers, type McpServers } from "./mcp-servers.ts";

async function signedIn(): Promise<McpServers & { readonly store: MemoryTokenStore }> {
  const servers = await startMcpServers();
  const store = new MemoryTokenStore();
  await signIn(servers.url, store);
  return Object.assign(servers, { store });
}

/** Makes the stored token look as if its hour was over. */
function age(servers: McpServers, store: MemoryTokenStore): void {
  servers.expire();
  store.set("mcp", { ...store.get("mcp"), expires_at: 1 });
}

describe("mcpAuthorization()", () => {
  it("refuses options that do not exist", () => {
    const options = { redirectUrl: "http://localhost/", redirect: () => {}, redirectURL: "" };
    expect(() => mcpAuthorization(options)).toThrow(OAuth2UsageError);
  });

  it("refuses tokens of an exchange that did not use its fetch, and keeps those it has", async () => {
    await using servers = await signedIn();
    const { authProvider } = authorizationOf(servers.store);
    const before = servers.store.get("mcp");
    await expect(authProvider.saveTokens({ access_token: "X" })).rejects.toThrow("the fetch of");
    expect(servers.store.get("mcp")).toEqual(before);
  });

  it("returns no refresh token to the client", async () => {
    await using servers = await signedIn();
    const tokens = await authorizationOf(servers.store).authProvider.tokens();
    expect(tokens).toMatchObject({ access_token: "A1", issuer: servers.url.origin });
    expect(JSON.stringify(tokens)).not.toContain("R1");
  });

  it("keeps the tokens when a forged code is refused", async () => {
    await using servers = await signedIn();
    const { authProvider } = authorizationOf(servers.store);
    for (const scope of ["tokens", "all"]) await authProvider.invalidateCredentials(scope);
    expect(servers.store.get("mcp")).toMatchObject({ refresh_token: "R1" });
  });

  it("sends no token to a server that refuses a token of somebody else", async () => {
    await using servers = await signedIn();
    const { authProvider, fetch: send } = authorizationOf(servers.store);
    await authProvider.tokens();
    const response = await send(servers.url, { headers: { authorization: "Bearer other" } });
    expect(response.status).toBe(401);
    expect(servers.refreshes).toEqual([]);
  });

  for (const count of [1, 4, 20]) {
    it(`answers ${count} calls at once by one refresh of an expired token`, async () => {
      await using servers = await signedIn();
      age(servers, servers.store);
      const authorization = authorizationOf(servers.store);
      expect(await callAtOnce(servers.url, authorization, count)).toBe(count);
      expect(servers.refreshes).toEqual(["R1"]);
      expect(authorization.redirects).toEqual([]);
    });

    it(`answers ${count} calls at once by one refresh of a token that the server refuses early`, async () => {
      await using servers = await signedIn();
      servers.expire();
      const authorization = authorizationOf(servers.store);
      expect(await callAtOnce(servers.url, authorization, count)).toBe(count);
      expect(servers.refreshes).toEqual(["R1"]);
      expect(authorization.redirects).toEqual([]);
    });
  }

  it("refreshes again and again, with the resource of the sign-in", async () => {
    await using servers = await signedIn();
    const authorization = authorizationOf(servers.store);
    for (let round = 1; round <= 3; round += 1) {
      servers.expire();
      expect(await callAtOnce(servers.url, authorizationOf(servers.store), 2)).toBe(2);
    }
    expect(await callAtOnce(servers.url, authorization, 1)).toBe(1);
    expect(servers.refreshes).toEqual(["R1", "R2", "R3"]);
  });

  it("sends the user to sign in once the refresh token is refused, and works again after that", async () => {
    await using servers = await signedIn();
    servers.store.set("mcp", { ...servers.store.get("mcp"), refresh_token: "R0" });
    servers.expire();
    const authorization = authorizationOf(servers.store);
    await expect(call(servers.url, authorization)).rejects.toThrow("Unauthorized");
    expect(authorization.redirects).toHaveLength(1);
    await signIn(servers.url, servers.store);
    expect(await callAtOnce(servers.url, authorization, 4)).toBe(4);
  });

  it("fails, and asks nobody to sign in, when a refresh fails for another reason than the token", async () => {
    await using servers = await signedIn();
    age(servers, servers.store);
    const authorization = mcpAuthorization({
      store: servers.store,
      redirectUrl: "http://localhost/",
      redirect: () => expect.unreachable(),
      fetch: async (input, init) => {
        const url = input instanceof Request ? input.url : String(input);
        if (url.endsWith("/token")) return Response.json({ error: "busy" }, { status: 400 });
        return fetch(input, init);
      },
    });
    await expect(call(servers.url, authorization)).rejects.toThrow("busy");
  });

  it("repeats a call whose token came from the sign-in of the same process", async () => {
    const { redirects, ...authorization } = authorizationOf(new MemoryTokenStore());
    await using servers = await startMcpServers();
    await signIn(servers.url, { ...authorization, redirects });
    servers.expire();
    expect(await callAtOnce(servers.url, authorization, 4)).toBe(4);
    expect(servers.refreshes).toEqual(["R1"]);
  });

  it("forgets everything that can be used after signOut()", async () => {
    await using servers = await signedIn();
    const authorization = authorizationOf(servers.store);
    await authorization.signOut();
    expect(await authorization.authProvider.tokens()).toBeUndefined();
    expect(servers.store.get("mcp")).toBeUndefined();
    expect(servers.store.get("mcp grant")).toBeUndefined();
  });

  it("fits the AI SDK", async () => {
    await using servers = await signedIn();
    servers.expire();
    const { authProvider, fetch: send } = authorizationOf(servers.store);
    const transport = {
      type: "http",
      url: String(servers.url),
      authProvider,
      fetch: send,
    } as const;
    const client = await createMCPClient({ transport });
    expect(Object.keys(await client.tools())).toEqual(["ping"]);
    await client.close();
    expect(servers.refreshes).toEqual(["R1"]);
  });
});

describe("the provider of the SDK's examples (control)", () => {
  it("loses the refresh token to 20 calls at once", async () => {
    await using servers = await signedIn();
    age(servers, servers.store);
    const authProvider = naiveProvider(servers.store);
    expect(await callAtOnce(servers.url, { authProvider }, 20)).toBe(0);
    expect(servers.refreshes.length).toBeGreaterThan(1);
    expect(servers.revoked).toBe(true);
  });
});
