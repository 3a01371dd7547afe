import { describe, expect, it } from "vitest";
import {
  fetchResourceMetadata,
  parseChallenges,
  resourceMetadataUrl,
  stepUp,
} from "../../src/oidc/resource/index.ts";
import { connect, idToken, issuer, now } from "../scripted-provider.ts";

describe("stepUp", () => {
  const of = (field: string): unknown => stepUp(parseChallenges(field));

  it("reads what the resource wants", () => {
    const error = 'error="insufficient_user_authentication"';
    expect(of(`Bearer ${error}, acr_values="gold silver", max_age="60", scope="pay"`)).toEqual({
      acr_values: "gold silver",
      max_age: 60,
      scope: "pay",
    });
    expect(of(`Bearer ${error}, max_age="-1"`)).toEqual({});
    expect(of(`Basic, DPoP ${error}, max_age=0`)).toEqual({ max_age: 0 });
  });

  it.each(['Bearer error="invalid_token", max_age="1"', "Bearer", ""])(
    "finds none in %s",
    (field) => {
      expect(of(field)).toBeUndefined();
    },
  );

  it("is what start takes, and the new ID token must be as recent as that", async () => {
    let authTime = now() - 3600;
    const { client } = connect({
      "/token": async () =>
        Response.json({
          access_token: "a",
          token_type: "Bearer",
          id_token: await idToken({ nonce, auth_time: authTime, acr: "silver" }),
        }),
    });
    let nonce: string | undefined;
    const wanted = { scope: "openid", acr_values: "gold silver", max_age: 60 };
    const signIn = async (): Promise<unknown> => {
      const { transaction } = await client.authCode.start(wanted, { requireAcr: true });
      ({ nonce } = transaction);
      return client.authCode.callback(`code=c&state=${transaction.state}`, transaction);
    };
    await expect(signIn()).rejects.toMatchObject({ claim: "auth_time" });
    authTime = now();
    expect(await signIn()).toMatchObject({ token: "a" });
  });
});

describe("fetchResourceMetadata", () => {
  const resource = "https://api.example/v1";
  const fetchAs = (document: unknown, asked: string = resource): Promise<unknown> =>
    fetchResourceMetadata(asked, { fetch: () => Response.json(document) });

  it.each([
    ["https://api.example", "https://api.example/.well-known/oauth-protected-resource"],
    [resource, "https://api.example/.well-known/oauth-protected-resource/v1"],
    [`${resource}?t=1`, "https://api.example/.well-known/oauth-protected-resource/v1?t=1"],
  ])("looks for %s at %s", async (asked, expected) => {
    const asks: string[] = [];
    await fetchResourceMetadata(asked, {
      fetch: ({ url }) => {
        asks.push(url);
        return Response.json({ resource: asked });
      },
    });
    expect(asks).toEqual([expected]);
  });

  it.each([
    ["another resource", { resource: "https://evil.example" }],
    ["a part of the resource", { resource: "https://api.example" }],
    ["no resource", {}],
    ["servers that are no list", { resource, authorization_servers: issuer }],
    ["a server over http", { resource, authorization_servers: ["http://op.example"] }],
    ["a server that is not a URL", { resource, authorization_servers: ["op"] }],
    ["scopes that are no texts", { resource, scopes_supported: [1] }],
    ["a list", []],
  ])("refuses %s", async (_case, document) => {
    await expect(fetchAs(document)).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
  });

  it.each(["api", "https://api.example/#x"])("throws for the resource %s", async (wrong) => {
    await expect(fetchAs({}, wrong)).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it.each(["http://127.0.0.1:9/meta", "http://localhost/meta", "http://[::1]/meta"])(
    "does not ask %s because a resource elsewhere says so",
    async (url) => {
      const fetch = (): never => {
        throw new Error("asked");
      };
      await expect(fetchResourceMetadata(resource, { url, fetch })).rejects.toMatchObject({
        code: "ERR_OAUTH_METADATA",
      });
    },
  );

  it("lets only a resource on this machine name a server without https on it", async () => {
    const document = { resource, authorization_servers: ["http://127.0.0.1:9"] };
    await expect(fetchAs(document)).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    const local = { ...document, resource: "http://localhost:1/v1" };
    expect(await fetchAs(local, local.resource)).toEqual(local);
  });

  it("reads the document that a challenge names, which must be of the resource all the same", async () => {
    const field = 'Bearer resource_metadata="https://api.example/meta"';
    const url = resourceMetadataUrl(parseChallenges(field));
    const document = { resource, authorization_servers: [issuer] };
    const asks: string[] = [];
    const fetch = (request: Request): Response => {
      asks.push(request.url);
      return Response.json(document);
    };
    expect(await fetchResourceMetadata(resource, { url, fetch })).toEqual(document);
    expect(asks).toEqual(["https://api.example/meta"]);
    await expect(
      fetchResourceMetadata("https://other.example", { url, fetch }),
    ).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    expect(resourceMetadataUrl(parseChallenges("Bearer"))).toBeUndefined();
  });
});
