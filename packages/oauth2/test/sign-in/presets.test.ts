import { decodeJwt, decodeProtectedHeader, exportPKCS8, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import * as entry from "../../src/sign-in/index.ts";
import { signInAt, type StandIn } from "./stand-in.ts";

const { apple, discord, github, gitlab, google, microsoft, slack } = entry.providers;

const json =
  (value: unknown, status = 200) =>
  (): Response =>
    Response.json(value, { status });

const gitHubUser = {
  id: 583231,
  login: "octocat",
  name: null,
  email: "public@octo.example",
  avatar_url: "https://avatars.githubusercontent.com/u/583231?v=4",
};
const gitHubEmails = [
  { email: "old@octo.example", primary: false, verified: true, visibility: null },
  { email: "octo@octo.example", primary: true, verified: true, visibility: "private" },
];
const gitHubToken = (): Response =>
  new Response("access_token=gho_1&scope=read%3Auser%2Cuser%3Aemail&token_type=bearer", {
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
  });
const gitHub = (user: unknown, emails: () => Response): StandIn => ({
  preset: github,
  token: gitHubToken,
  resources: {
    "https://api.github.com/user": json(user),
    "https://api.github.com/user/emails": emails,
  },
});

const tenant = "9188040d-6c67-4c5b-b112-36a304b66dad";
const microsoftWith = (claims: object): StandIn => ({
  preset: microsoft,
  metadata: {
    issuer: "https://login.microsoftonline.com/{tenantid}/v2.0",
    userinfo_endpoint: "https://graph.microsoft.com/oidc/userinfo",
  },
  claims: {
    iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
    tid: tenant,
    sub: "AAAA",
    email: "boss@victim.example",
    name: "Ada",
    ...claims,
  },
});

const discordUser = {
  id: "80351110224678912",
  username: "nelly",
  global_name: "Nelly",
  avatar: "8342729096ea3675442027381ff50dfe",
  email: "nelly@discord.example",
  verified: true,
};
const discordWith = (changes: object): StandIn => ({
  preset: discord,
  token: json({ access_token: "at", token_type: "Bearer", expires_in: 604_800, scope: "identify" }),
  resources: { "https://discord.com/api/users/@me": json({ ...discordUser, ...changes }) },
});

const { privateKey } = await generateKeyPair("ES256", { extractable: true });
const appleKey = { clientId: "app", teamId: "TEAM123456", keyId: "KEY1234567" };
const appleWith = (claims: object, callback: Record<string, string> = {}): StandIn => ({
  preset: apple,
  claims: { sub: "001.a", email: "x@privaterelay.appleid.com", ...claims },
  callback,
  options: {
    clientSecret: undefined,
    authScheme: entry.appleClientSecret({ ...appleKey, key: privateKey }),
  },
});

const standard = {
  sub: "1",
  email: "a@b.example",
  email_verified: true,
  name: "Ada",
  picture: "https://img.example/a.png",
};
const profile = {
  id: "1",
  email: "a@b.example",
  emailVerified: true,
  name: "Ada",
  picture: "https://img.example/a.png",
};

describe("the profile", () => {
  it.each<[string, StandIn, object]>([
    ["google", { preset: google, claims: standard }, { ...profile, issuer: google.issuer }],
    ["gitlab", { preset: gitlab, claims: standard }, { ...profile, issuer: gitlab.issuer }],
    ["slack", { preset: slack, claims: standard }, { ...profile, issuer: slack.issuer }],
    [
      "a provider of one's own",
      { preset: { ...gitlab, issuer: "https://git.example" }, claims: standard },
      { ...profile, issuer: "https://git.example" },
    ],
    [
      "github",
      gitHub(gitHubUser, json(gitHubEmails)),
      {
        issuer: github.issuer,
        id: "583231",
        email: "octo@octo.example",
        emailVerified: true,
        name: "octocat",
        picture: gitHubUser.avatar_url,
      },
    ],
    [
      "microsoft",
      microsoftWith({ xms_edov: true }),
      {
        issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
        id: "AAAA",
        email: "boss@victim.example",
        emailVerified: true,
        name: "Ada",
        picture: undefined,
      },
    ],
    [
      "discord",
      discordWith({}),
      {
        issuer: discord.issuer,
        id: discordUser.id,
        email: discordUser.email,
        emailVerified: true,
        name: "Nelly",
        picture: `https://cdn.discordapp.com/avatars/${discordUser.id}/${discordUser.avatar}.png`,
      },
    ],
    [
      "apple",
      appleWith(
        { email_verified: "true" },
        { user: '{"name":{"firstName":"Ada","lastName":"L"},"email":"evil@victim.example"}' },
      ),
      {
        issuer: apple.issuer,
        id: "001.a",
        email: "x@privaterelay.appleid.com",
        emailVerified: true,
        name: "Ada L",
        picture: undefined,
      },
    ],
  ])("of %s is read", async (_name, standIn, expected) => {
    const { response, signedIn, asked } = await signInAt(standIn);
    expect(response.status).toBe(303);
    expect(signedIn?.profile).toEqual(expected);
    expect(asked.get("code_challenge_method")).toBe("S256");
  });

  it.each<[string, StandIn, string | undefined]>([
    ["google", { preset: google, claims: { ...standard, email_verified: false } }, standard.email],
    ["slack", { preset: slack, claims: { ...standard, email_verified: "true" } }, standard.email],
    ["microsoft", microsoftWith({ email_verified: true }), "boss@victim.example"],
    ["microsoft that denies it", microsoftWith({ xms_edov: "0" }), "boss@victim.example"],
    ["apple", appleWith({ email_verified: "false" }), "x@privaterelay.appleid.com"],
    ["discord", discordWith({ verified: false }), discordUser.email],
    [
      "github",
      gitHub(gitHubUser, json([{ email: "v@v.example", primary: true, verified: false }])),
      undefined,
    ],
    ["github without the permission", gitHub(gitHubUser, json({}, 403)), undefined],
    ["github with another shape", gitHub(gitHubUser, json({ email: "x" })), undefined],
  ])("of %s has no verified address when there is none", async (_name, standIn, email) => {
    const { signedIn } = await signInAt(standIn);
    expect([signedIn?.profile.email, signedIn?.profile.emailVerified]).toEqual([email, false]);
  });

  it("leaves out what is of another type, too long, or no https URL", async () => {
    const claims = { sub: "1", email: ["a"], email_verified: true, name: "x".repeat(501) };
    for (const picture of ["javascript:alert(1)", "http://x.example/", "https://", 5]) {
      const { signedIn } = await signInAt({ preset: google, claims: { ...claims, picture } });
      const { email, emailVerified, name, picture: shown } = signedIn?.profile ?? {};
      expect([email, emailVerified, name, shown]).toEqual([undefined, false, undefined, undefined]);
    }
    for (const avatar of ["../../evil", null, undefined]) {
      const odd = await signInAt(discordWith({ avatar }));
      expect(odd.signedIn?.profile.picture).toBeUndefined();
    }
  });

  it("without a user is an error of the provider", async () => {
    for (const standIn of [
      discordWith({ id: 5 }),
      gitHub(null, json([])),
      gitHub({ id: "1" }, json([])),
    ])
      expect((await signInAt(standIn)).response.status).toBe(502);
  });
});

describe("a provider that refuses the code", () => {
  it.each<[string, StandIn, number]>([
    [
      "as GitHub does",
      { preset: github, token: json({ error: "bad_verification_code", error_uri: "https://x" }) },
      400,
    ],
    ["as Slack does", { preset: slack, token: json({ ok: false, error: "invalid_code" }) }, 400],
    ["as Google does", { preset: google, token: json({ error: "invalid_grant" }, 400) }, 400],
    [
      "as Microsoft does",
      {
        ...microsoftWith({}),
        token: json(
          { error: "invalid_grant", error_description: "AADSTS70008", error_codes: [70_008] },
          400,
        ),
      },
      400,
    ],
    [
      "and the client, as Apple does",
      { ...appleWith({}), token: json({ error: "invalid_client" }, 400) },
      502,
    ],
    ["with a page", { preset: gitlab, token: () => new Response("<html>", { status: 502 }) }, 502],
    ["for too many requests", { preset: discord, token: json({ message: "slow" }, 429) }, 503],
  ])("%s is a page", async (_name, standIn, status) => {
    const { response, signedIn } = await signInAt(standIn);
    expect([response.status, signedIn]).toEqual([status, undefined]);
  });
});

describe("an ID token", () => {
  it.each<[string, StandIn]>([
    ["of another tenant than its issuer", microsoftWith({ tid: "0".repeat(36) })],
    ["of another issuer", { preset: google, claims: { ...standard, iss: "https://evil.example" } }],
    ["of another client", { preset: google, claims: { ...standard, aud: "other" } }],
    ["of another sign-in", { preset: google, claims: { ...standard, nonce: "other" } }],
  ])("%s is refused", async (_name, standIn) => {
    const { response, signedIn } = await signInAt(standIn);
    expect([response.status, signedIn]).toEqual([400, undefined]);
  });
});

describe("signInProvider()", () => {
  const credentials = { clientId: "app", clientSecret: "s", redirectUri: "https://app.example/cb" };

  it("sends the token to the resources with a user agent, and the secret in the body", async () => {
    const { sent } = await signInAt(gitHub(gitHubUser, json(gitHubEmails)));
    const [exchange, user] = sent;
    expect(exchange?.form.get("client_secret")).toBe("s3cr3t");
    expect(exchange?.form.get("code_verifier")).toHaveLength(43);
    expect(user?.request.headers.get("authorization")).toBe("Bearer gho_1");
    expect(user?.request.headers.get("user-agent")).toBe("fetchwork");
  });

  it("refuses wrong options before anybody signs in", () => {
    const make = (options: object) => () =>
      entry.signInProvider(google, { ...credentials, ...options });
    expect(make({ clientId: "" })).toThrow("client identifier");
    expect(make({ clientSecret: 5 })).toThrow("client secret");
    expect(make({ clientid: "x" })).toThrow('no option "clientid"');
    expect(make({ issuer: "x" })).toThrow("issuer");
  });

  it("asks a provider that was down again, and one that was there only once", async () => {
    let tries = 0;
    const provider = entry.signInProvider(google, {
      ...credentials,
      fetch: async () => {
        tries += 1;
        if (tries === 1) throw new TypeError("fetch failed");
        return Response.json({ issuer: google.issuer });
      },
    });
    await expect(provider.connect()).rejects.toThrow("no complete response");
    await Promise.all([provider.connect(), provider.connect()]);
    expect(tries).toBe(2);
  });
});

describe("appleClientSecret()", () => {
  it("signs a client secret for each request", async () => {
    const { sent } = await signInAt(appleWith({}));
    const jwt = sent.find(({ form }) => form.has("client_secret"))?.form.get("client_secret") ?? "";
    expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: "ES256", kid: "KEY1234567" });
    const { iss, sub, aud, exp = 0, iat = 0 } = decodeJwt(jwt);
    expect([iss, sub, aud]).toEqual(["TEAM123456", "app", "https://appleid.apple.com"]);
    expect(exp - iat).toBe(300);
  });

  it("takes the text of the file, and refuses half of one", async () => {
    const key = await exportPKCS8(privateKey);
    expect(entry.appleClientSecret({ ...appleKey, key })).toBeTypeOf("function");
    const half = key.slice(0, 60);
    expect(() => entry.appleClientSecret({ ...appleKey, key: half })).toThrow("appleClientSecret");
    expect(() => entry.appleClientSecret({ ...appleKey, key, teamId: "" })).toThrow("teamId");
  });
});
