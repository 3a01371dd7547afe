import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { startModelServer, type ScriptedAnswer } from "../../packages/agent/test/model-server.ts";
import { makeCertificate } from "./certificate.ts";

/** The services that the READMEs call, on this machine. */
export interface StandIns {
  /** Ports: for http URLs, for https URLs, and for a local model. */
  readonly ports: { readonly http: number; readonly https: number; readonly model: number };
  /** The authority that signed the certificate of all hosts, in PEM. */
  readonly ca: string;
  close(): Promise<void>;
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** Starts stand-ins of every service that the READMEs name. */
export async function startStandIns(): Promise<StandIns> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const routes = routesOf(privateKey, publicKey);
  const certificate = makeCertificate([
    "*.example.com",
    "example.com",
    "*.acme.example",
    "tea.example",
  ]);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host = "", authorization = "" } = request.headers;
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const key = `${request.method} ${host}${pathname}`;
    const body = await text(request);
    const reply = routes[key]?.(authorization, body) ?? {
      status: 404,
      json: { error: `no stand-in for ${key}` },
    };
    const { status = 200, headers = {}, json } = reply;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(json === undefined ? undefined : JSON.stringify(json));
  };
  const http = await listening(createServer((...exchange) => void answer(...exchange)));
  const https = await listening(
    createTlsServer(certificate, (...exchange) => void answer(...exchange)),
  );
  const model = await startModelServer({ answers: modelAnswers });
  return {
    ports: { http: portOf(http), https: portOf(https), model: Number(new URL(model.baseUrl).port) },
    ca: certificate.ca,
    close: async () => {
      for (const server of [http, https]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await model.close();
    },
  };
}

type Routes = Readonly<Record<string, (authorization: string, body: string) => Reply>>;

function routesOf(key: KeyObject, publicKey: KeyObject): Routes {
  const issuer = "https://id.example.com";
  const token = {
    access_token: "access-token-of-a-stand-in",
    token_type: "Bearer",
    expires_in: 3600,
  };
  const tea = { id: "1", name: "Sencha", stars: 4 };
  return {
    "GET id.example.com/.well-known/openid-configuration": () => ({
      json: {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
        dpop_signing_alg_values_supported: ["ES256"],
        code_challenge_methods_supported: ["S256"],
      },
    }),
    "GET id.example.com/jwks": () => ({
      json: {
        keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }],
      },
    }),
    "POST id.example.com/device": () => ({
      json: {
        device_code: "device-code",
        user_code: "WDJB-MJHT",
        verification_uri: `${issuer}/device`,
        expires_in: 600,
        interval: 1,
      },
    }),
    "POST id.example.com/token": (_, body) => {
      const aud = new URLSearchParams(body).get("client_id") ?? "tv";
      return {
        json: {
          ...token,
          token_type: aud === "tv" ? "DPoP" : "Bearer",
          id_token: idToken({ iss: issuer, aud, sub: "1" }, key),
        },
      };
    },
    "POST mcp.example.com/register": () => ({
      json: { client_id: "mcp", redirect_uris: ["http://localhost:3000/callback"] },
    }),
    "POST mcp.example.com/mcp": (_, body) => mcpReply(body),
    "POST api.example.com/oauth/token": () => ({ json: token }),
    "POST example.com/oauth/token": () => ({ json: { ...token, refresh_token: "refresh-token" } }),
    "GET api.example.com/items": (authorization) =>
      authorization === `Bearer ${token.access_token}` ? { json: [{ id: 1 }] } : { status: 401 },
    "GET api.example.com/transfers": (authorization) =>
      authorization.startsWith("DPoP ") ? { json: [{ id: 1 }] } : { status: 401 },
    "POST api.example.com/users": () => ({ status: 201, json: { id: 1, name: "Ada" } }),
    "GET api.example.com/repos": () => ({ json: { data: [{ name: "blog" }] } }),
    "GET api.example.com/users": () => ({ json: [{ name: "Ada" }] }),
    "GET api.example.com/export": () => ({ json: "x".repeat(100_000) }),
    "POST example.com/hooks": () => ({ status: 204 }),
    "GET api.acme.example/orgs/octo/repos": () => ({ json: [{ name: "hello" }] }),
    "GET blog.example.com/posts/123": () => ({ json: { id: "123", title: "Hello" } }),
    "GET blog.example.com/posts/404": () => ({ status: 404, json: { message: "no such post" } }),
    "PUT blog.example.com/posts/123": () => ({ json: { id: "123", title: "Hello again" } }),
    "GET tea.example/openapi.json": () => ({ json: teaDescription }),
    "GET tea.example/teas": () => ({ headers: { "x-total-count": "1" }, json: [tea] }),
    "POST tea.example/teas": () => ({ status: 201, headers: { etag: '"1"' }, json: tea }),
    "PUT tea.example/teas/1": () => ({ headers: { etag: '"2"' }, json: tea }),
  };
}

/**
 * Opens a session of the Model Context Protocol (2025-11-25, Lifecycle), and knows nothing else.
 */
function mcpReply(body: string): Reply {
  const { id, method, params } = JSON.parse(body) as McpMessage;
  if (id === undefined) return { status: 202 };
  if (method !== "initialize") {
    const error = { code: -32_601, message: "Method not found" };
    return { json: { jsonrpc: "2.0", id, error } };
  }
  const { protocolVersion } = params;
  const serverInfo = { name: "stand-in", version: "1.0.0" };
  return {
    json: { jsonrpc: "2.0", id, result: { protocolVersion, capabilities: {}, serverInfo } },
  };
}

interface McpMessage {
  /** Absent in a notification. */
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string };
}

function operation(action: string): object {
  return { operationId: `${action}Tea`, "x-fetchwork": { resource: "teas", action } };
}

const teaDescription = {
  openapi: "3.1.0",
  paths: {
    "/teas": { get: operation("list"), post: operation("create") },
    "/teas/{id}": { put: operation("update"), patch: operation("patch") },
  },
};

/** An ID token (OpenID Connect Core, 2) that is valid for five minutes. */
function idToken(claims: Readonly<Record<string, string>>, key: KeyObject): string {
  const iat = Math.floor(Date.now() / 1000);
  const auth = { iat, exp: iat + 300, jti: createHash("sha256").update(String(iat)).digest("hex") };
  const signed = `${base64Url({ alg: "ES256", kid: "1" })}.${base64Url({ ...claims, ...auth })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

const page = '<!doctype html>\n<title>Pong</title>\n<canvas id="game"></canvas>\n';

const gameFile = { path: "index.html", purpose: "The page", dependsOn: [], exports: [] };

const modelAnswers: readonly ScriptedAnswer[] = [
  {
    tool: "edit",
    last: "user",
    calls: [
      {
        name: "edit",
        arguments: { path: "speed.js", search: "speed = 1", replace: "speed = 2" },
      },
    ],
  },
  { tool: "edit", last: "tool", text: "The ball is twice as fast." },
  { tool: "project_files", arguments: { files: [gameFile] } },
  { match: ["the source of index.html"], text: `\`\`\`html\n${page}\`\`\`\n` },
  { text: "# Shared dependencies\n\nindex.html\n" },
];

async function listening<T extends Server>(server: T): Promise<T> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
