import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OAuth2Error } from "../../src/index.ts";
import { discover, OidcClient, RemoteJwks } from "../../src/oidc/index.ts";
import { closeServer } from "../provider-server.ts";

/** What a server may do to each request. `base` is the server itself. */
const behaviours: Readonly<Record<string, RequestListener>> = {
  silence: () => undefined,
  cutOff: (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "50" });
    response.write('{"sub":"user","active":true');
    setImmediate(() => response.destroy());
  },
  endless: (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (response.writable && response.write(" ".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  },
  html: (_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>CANARY</h1>");
  },
  htmlAsJson: (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end("<h1>CANARY</h1>");
  },
  deep: (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end("[".repeat(200_000));
  },
  lineBreaks: (_, response) => {
    const body = { error: "x\r\n[INFO] forged", error_description: "a\u001b[2J\u202eb\nc" };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(body));
  },
  odd: (_, response) => {
    const body = '{"error":{"a":1},"error_description":[1],"__proto__":{"polluted":1}}';
    response.writeHead(500, { "content-type": "application/json" }).end(body);
  },
  redirect: (request, response) => {
    response.writeHead(307, { location: `/stolen${request.url}` }).end();
  },
  prototype: (_, response) => {
    const body = '{"__proto__":{"sub":"user","active":true,"polluted":1},"constructor":1}';
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  },
};

let base = "";
const paths: string[] = [];
const server = createServer((request, response) => {
  const [, name = ""] = (request.url ?? "").split("/");
  paths.push(request.url ?? "");
  behaviours[name]?.(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => closeServer(server));

const calls: Readonly<Record<string, (client: OidcClient, at: string) => Promise<unknown>>> = {
  discover: (_, at) => discover(`${at}/x`, { timeout: 250 }),
  keys: async (_, at) =>
    new RemoteJwks(`${at}/jwks`, { timeout: 250 }).getKey({ alg: "RS256", kid: "k" }),
  userInfo: (client) => client.userInfo("CANARY-token", { expectedSub: "user" }),
  "device.start": (client) => client.device.start(),
  introspect: (client) => client.introspect("CANARY-token"),
  push: (client) => client.pushAuthorization({ login_hint: "CANARY" }),
  exchange: (client) => client.tokenExchange.getToken({ subjectToken: "CANARY-subject" }),
};

const pairs = Object.keys(behaviours).flatMap((behaviour) =>
  Object.entries(calls).map(([name, call]) => [name, behaviour, call] as const),
);

describe("a hostile server", () => {
  it.each(pairs)(
    "gets nothing out of %s by %s but a typed error",
    async (_name, behaviour, call) => {
      const at = `${base}/${behaviour}`;
      const metadata = {
        issuer: at,
        token_endpoint: `${at}/token`,
        userinfo_endpoint: `${at}/me`,
        device_authorization_endpoint: `${at}/device`,
        introspection_endpoint: `${at}/introspect`,
        pushed_authorization_request_endpoint: `${at}/par`,
      };
      const client = new OidcClient(metadata, "app", "CANARY-secret", {
        connectionOpts: { timeout: 250 },
        maxResponseBytes: 300_000,
      });
      const error: unknown = await call(client, at).then(
        () => "nothing was thrown",
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(OAuth2Error);
      const { message } = error as OAuth2Error;
      expect(message).not.toMatch(/CANARY|[\p{Cc}\p{Cf}]/u);
      expect(message.length).toBeLessThan(600);
      expect(paths.filter((path) => path.startsWith("/stolen"))).toEqual([]);
      expect(Reflect.get({}, "polluted")).toBeUndefined();
    },
  );
});
