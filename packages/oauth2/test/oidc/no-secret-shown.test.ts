import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { AccessToken } from "../../src/index.ts";
import { DPoP, type OidcClient } from "../../src/oidc/index.ts";
import { connect, idToken, metadata } from "../scripted-provider.ts";

/** A value that must be shown nowhere. */
const canary = (name: string): string => `CANARY-${name}`;

const token = async (): Promise<Response> =>
  Response.json({
    access_token: canary("access"),
    refresh_token: canary("refresh"),
    id_token: await idToken(),
    token_type: "Bearer",
    issued_token_type: "urn:x",
  });

/** Each does one thing, and returns what a program may log: results, and errors. */
const flows: Readonly<Record<string, (client: OidcClient) => Promise<unknown>>> = {
  signIn: async (client) => {
    const { transaction } = await client.authCode.start({ scope: "read" });
    const { state } = transaction;
    return client.authCode.callback(`code=${canary("code")}&state=${state}`, transaction);
  },
  wrongCallback: async (client) => {
    const { transaction } = await client.authCode.start();
    return client.authCode.callback(`code=${canary("code")}&state=${canary("state")}`, transaction);
  },
  wrongNonce: async (client) => {
    const { transaction } = await client.authCode.start();
    const { state } = transaction;
    return client.authCode.callback(`code=${canary("code")}&state=${state}`, transaction);
  },
  refresh: async (client) =>
    AccessToken.fromHash(client, { refresh_token: canary("old") }).refresh(),
  device: async (client) => {
    const device = await client.device.start();
    await client.device.poll(device, { wait: async () => undefined });
    return "done";
  },
  exchange: (client) =>
    client.tokenExchange.getToken({ subjectToken: canary("subject"), actorToken: canary("actor") }),
  introspect: (client) => client.introspect(canary("token")),
  userInfo: (client) => client.userInfo(canary("token"), { expectedSub: "other" }),
  revoke: (client) => client.revokeToken(canary("token")),
  push: (client) => client.pushAuthorization({ login_hint: "user", request: canary("request") }),
  wrongIdToken: (client) => client.verifyIdToken(`${canary("header")}.${canary("payload")}.x`),
  wrongLogoutToken: (client) => client.verifyLogoutToken(canary("logout")),
};

describe.each(Object.entries(flows))("%s", (name, flow) => {
  it.each([200, 400, 500])(
    "shows no secret in debug output, results and errors, status %i",
    async (status) => {
      const lines: string[] = [];
      const log = (line: string): void => void lines.push(line);
      const answer = async (): Promise<Response> => {
        if (status === 200) return token();
        const echo = { error: "invalid_grant", error_description: "no", user_code: canary("echo") };
        return Response.json(echo, { status });
      };
      const { client } = connect(
        {
          "/token": answer,
          "/device": () =>
            Response.json({
              device_code: canary("device"),
              user_code: canary("user"),
              verification_uri: "https://op.example/activate",
              expires_in: 600,
            }),
          "/par": () =>
            Response.json({ request_uri: canary("uri"), expires_in: 60 }, { status: 201 }),
          "/introspect": () => Response.json({ active: true }),
          "/me": () => Response.json({ sub: "user" }),
          "/revoke": () => new Response(null),
        },
        {
          debug: true,
          logger: { debug: log, warn: log },
          dpop: await DPoP.generate(),
          metadata: {
            device_authorization_endpoint: `${metadata.issuer}/device`,
            revocation_endpoint: `${metadata.issuer}/revoke`,
            token_endpoint_auth_methods_supported: ["client_secret_post"],
          },
        },
      );
      const result: unknown = await flow(client).catch((error: unknown) => error);
      const shown = [
        ...lines,
        inspect(result, { depth: 20 }),
        result instanceof Error ? `${result.message} ${String(result.stack)}` : "",
        JSON.stringify(result) ?? "",
        inspect(client, { depth: 20, showHidden: true }),
      ].join("\n");
      // The reference of a pushed request is what the caller asked for.
      const checked = name === "push" ? shown.replaceAll(canary("uri"), "") : shown;
      // Inside of a word it is chance: public keys are 342 such letters.
      expect(checked).not.toMatch(/CANARY-(?!echo)|s3cr3t-value|(?<![\w-])eyJ[\w-]{20}/);
      expect(lines.join("\n")).not.toMatch(/CANARY/);
    },
  );
});

/** Calls with arguments that are mixed up, or that somebody forgot to read from JSON. */
const mistakes: Readonly<Record<string, (client: OidcClient) => Promise<unknown>>> = {
  "a transaction as text": async (client) => {
    const { transaction } = await client.authCode.start();
    const text = JSON.stringify({ codeVerifier: canary("verifier"), state: transaction.state });
    return Reflect.apply(client.authCode.callback, client.authCode, ["code=c", text]);
  },
  "a device authorization as text": async (client) =>
    Reflect.apply(client.device.poll, client.device, [
      JSON.stringify({ deviceCode: canary("device") }),
    ]),
  "a key instead of the encoding": async (client) =>
    Reflect.apply(client.assertion.getToken, client.assertion, [{ iss: "me" }, canary("key")]),
  "a key before the algorithm": (client) =>
    client.assertion.getToken([{ iss: "me" }, canary("key"), "HS256"]),
  "a key that is not PEM": (client) =>
    client.assertion.getToken({ iss: "me" }, { algorithm: "RS256", key: canary("key") }),
};

it("inspect hides the device code and the code verifier, which JSON and copies keep", async () => {
  const device_authorization_endpoint = `${metadata.issuer}/device`;
  const { client } = connect(
    {
      "/device": () =>
        Response.json({
          device_code: canary("device"),
          user_code: "AB-CD",
          verification_uri: "https://op.example/device",
          expires_in: 600,
        }),
    },
    { metadata: { device_authorization_endpoint } },
  );
  const { transaction } = await client.authCode.start();
  const device = await client.device.start();
  for (const [object, secret] of [
    [transaction, transaction.codeVerifier],
    [device, device.deviceCode],
  ] as const) {
    expect(inspect({ nested: [object] })).not.toContain(secret);
    expect(JSON.stringify(object)).toContain(secret);
    expect(structuredClone(object)).toMatchObject(JSON.parse(JSON.stringify(object)));
  }
});

it.each(Object.entries(mistakes))("the error about %s shows no secret", async (_name, call) => {
  const error: unknown = await call(connect({}).client).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "ERR_OAUTH_OPTION" });
  expect(inspect(error, { depth: 20 })).not.toContain("CANARY");
});

it("an error shows nothing of a challenge, into which a provider writes the token", async () => {
  const { client } = connect({
    "/me": ({ headers }) =>
      new Response(null, {
        status: 401,
        headers: {
          "www-authenticate": `Bearer error="invalid_token", error_description="${headers.get("authorization")}"`,
        },
      }),
  });
  const failed = client.userInfo(canary("token"), { expectedSub: "user" });
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "invalid_token",
    challenges: [{ scheme: "bearer" }],
    description: `Bearer ${canary("token")}`,
  });
  expect(`${inspect(error, { depth: 20 })} ${JSON.stringify(error)}`).not.toContain("CANARY");
});
