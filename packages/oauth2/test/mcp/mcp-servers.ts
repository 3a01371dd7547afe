import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { close, listen, readText } from "../scripted-server.ts";

/**
 * An MCP server of version 2 and its authorization server: registration, codes with PKCE, and
 * refresh tokens that rotate. A refresh token that is used twice ends the family (RFC 9700,
 * 4.14.2), with no grace for a lost answer.
 */
export interface McpServers extends AsyncDisposable {
  readonly url: URL;
  /** Refresh tokens as they arrived. */
  readonly refreshes: string[];
  readonly revoked: boolean;
  /** Calls of the tool that were answered. */
  readonly calls: number;
  /** Runs when a refresh arrived, before it is answered. */
  onRefresh: (count: number) => void | Promise<void>;
  /** Makes the access tokens that were given so far invalid. */
  expire(): void;
  /** Seconds that the next access tokens are good for. */
  lifetime: number;
  /** How often a refresh token may be used again before that ends the family. */
  grace: number;
}

export async function startMcpServers(): Promise<McpServers> {
  let generation = 0;
  let valid = "";
  let validUntil = 0;
  let calls = 0;
  let revoked = false;
  let uses = 0;
  const challenges = new Map<string, string>();

  const mcp = toNodeHandler(
    createMcpHandler(() => {
      const server = new McpServer({ name: "stand-in", version: "1.0.0" });
      server.registerTool("ping", { description: "Says pong" }, () => {
        calls += 1;
        return { content: [{ type: "text", text: "pong" }] };
      });
      return server;
    }),
  );

  function issue(): Record<string, unknown> {
    generation += 1;
    uses = 0;
    valid = `A${generation}`;
    validUntil = Date.now() + state.lifetime * 1000;
    return {
      access_token: valid,
      refresh_token: `R${generation}`,
      token_type: "Bearer",
      expires_in: state.lifetime,
    };
  }

  async function grant(form: URLSearchParams): Promise<Record<string, unknown>> {
    if (form.get("grant_type") === "authorization_code") {
      const verifier = form.get("code_verifier") ?? "";
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const code = form.get("code") ?? "";
      if (challenges.get(code) !== challenge) return { error: "invalid_grant" };
      challenges.delete(code);
      revoked = false;
      return issue();
    }
    const token = form.get("refresh_token") ?? "";
    state.refreshes.push(token);
    await state.onRefresh(state.refreshes.length);
    if (form.get("client_id") !== "c1" || form.get("resource") !== String(state.url)) {
      return { error: "invalid_client" };
    }
    const isRepeated = token === `R${generation - 1}` && uses < state.grace;
    if (isRepeated) uses += 1;
    if (!isRepeated && token !== `R${generation}`) revoked = true;
    return revoked ? { error: "invalid_grant" } : issue();
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return reply(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    }
    if (pathname.startsWith("/.well-known/oauth-authorization-server")) {
      return reply(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    }
    if (pathname === "/register") {
      const body: unknown = JSON.parse(await readText(request));
      return reply(201, { ...Object(body), client_id: "c1" });
    }
    if (pathname === "/authorize") {
      const code = randomUUID();
      challenges.set(code, searchParams.get("code_challenge") ?? "");
      return reply(200, { code, state: searchParams.get("state") });
    }
    if (pathname === "/token") {
      const body = await grant(new URLSearchParams(await readText(request)));
      return reply("error" in body ? 400 : 200, body);
    }
    const isValid = request.headers.authorization === `Bearer ${valid}` && Date.now() < validUntil;
    if (pathname === "/mcp" && isValid && !revoked) {
      const { method = "GET", url = "/" } = request;
      return mcp(Object.assign(request, { method, url }), response);
    }
    request.resume();
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    response.setHeader("www-authenticate", `Bearer resource_metadata="${metadata}"`);
    return reply(401, { error: "invalid_token" });
  }

  const server = createServer((request, response) => void answer(request, response));
  const origin = await listen(server);
  const state: McpServers = {
    url: new URL(`${origin}/mcp`),
    refreshes: [],
    get revoked() {
      return revoked;
    },
    get calls() {
      return calls;
    },
    onRefresh: () => {},
    expire() {
      valid = "";
    },
    lifetime: 3600,
    grace: 0,
    [Symbol.asyncDispose]: () => close(server),
  };
  return state;
}

/** What a user's browser does: signs in, and returns the parameters of the callback. */
export async function signInAt(url: URL): Promise<URLSearchParams> {
  const { code, state } = (await (await fetch(url)).json()) as { code: string; state: string };
  return new URLSearchParams({ code, state });
}
