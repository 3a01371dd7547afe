import { createHmac, generateKeyPairSync } from "node:crypto";
import { openStore, type Store } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { createSessionTokens, hashPassword, type Account } from "@fetchwork/rest";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { article } from "../src/api/article/model.ts";
import { user } from "../src/api/user/model.ts";
import type { OpenService } from "@fetchwork/service";
import { jwtSecret, masterKey, openBlog } from "./open-blog.ts";

/** Everything that is there while one operation is tried by everybody. */
interface World {
  readonly app: OpenService;
  readonly store: Store;
  readonly accounts: Readonly<Record<"ada" | "bob" | "root" | "gone" | "changed", Account>>;
}

/** Whose status a caller gets. */
type Role = "nobody" | "other" | "owner" | "admin" | "master";
type Statuses = Readonly<Record<Role, number>>;

interface Row {
  readonly path: string;
  readonly json?: unknown;
  readonly expected: Statuses;
}

const [ada, articleId] = ["ada", "article-of-ada"];
const everyone = (status: number): Statuses => ({
  nobody: status,
  other: status,
  owner: status,
  admin: status,
  master: status,
});
const users = (status: number): Statuses => ({ ...everyone(status), nobody: 401, master: 401 });
const ownerAndAdmin = (status: number): Statuses => ({ ...users(status), other: 403 });
const admins = (status: number): Statuses => ({ ...users(403), admin: status });
const masters = (status: number): Statuses => ({ ...everyone(403), nobody: 401, master: status });

const password = "a new password";
const link = "http://localhost:9000/reset";
const email = "eve@example.com";
const noToken = "x".repeat(43);
const url = "https://hooks.example/blog";

const credential = { id: "x", rawId: "x", type: "public-key" };
const attestation = { ...credential, response: { clientDataJSON: "x", attestationObject: "x" } };
const assertion = {
  ...credential,
  response: { clientDataJSON: "x", authenticatorData: "x", signature: "x" },
};

/** Who may do what: a row for each operation. */
const table: Readonly<Record<string, Row>> = {
  "GET listUsers": { path: "/users", expected: admins(200) },
  "QUERY queryUsers": { path: "/users", json: {}, expected: admins(200) },
  "POST createUser": { path: "/users", json: { email, password }, expected: masters(201) },
  "GET showUser": { path: `/users/${ada}`, expected: users(200) },
  "PUT updateUser": { path: `/users/${ada}`, json: { name: "A" }, expected: ownerAndAdmin(200) },
  "PATCH patchUser": { path: `/users/${ada}`, json: { name: "A" }, expected: ownerAndAdmin(200) },
  "DELETE removeUser": { path: `/users/${ada}`, expected: admins(204) },
  "PUT updatePassword": {
    path: `/users/${ada}/password`,
    json: { password },
    expected: everyone(401),
  },
  "PUT updateRole": { path: `/users/${ada}/role`, json: { role: "user" }, expected: admins(200) },
  "POST signIn": { path: "/auth", expected: masters(401) },
  "DELETE signOut": { path: "/auth", expected: users(204) },
  "POST refreshSession": {
    path: "/auth/refresh",
    json: { refreshToken: "none" },
    expected: everyone(401),
  },
  "POST signInPage": { path: "/auth/cookie", expected: everyone(401) },
  "DELETE signOutPage": { path: "/auth/cookie", expected: users(204) },
  "GET listSessions": { path: `/users/${ada}/sessions`, expected: ownerAndAdmin(200) },
  "DELETE endSessions": { path: `/users/${ada}/sessions`, expected: ownerAndAdmin(204) },
  "DELETE endSession": { path: `/users/${ada}/sessions/none`, expected: ownerAndAdmin(404) },
  "GET listKeys": { path: `/users/${ada}/keys`, expected: ownerAndAdmin(200) },
  // Tokens without a session are not recent.
  "POST createKey": {
    path: `/users/${ada}/keys`,
    json: { name: "n", scopes: ["*:read"] },
    expected: users(403),
  },
  "DELETE removeKey": { path: `/users/${ada}/keys/none`, expected: ownerAndAdmin(404) },
  "POST enableSecondFactor": { path: `/users/${ada}/totp`, expected: everyone(401) },
  "DELETE disableSecondFactor": { path: `/users/${ada}/totp`, expected: ownerAndAdmin(404) },
  "POST beginPasskey": { path: "/passkeys/registration-options", expected: users(403) },
  "POST registerPasskey": {
    path: "/passkeys",
    json: { name: "n", response: attestation },
    expected: users(422),
  },
  "POST beginPasskeySignIn": { path: "/passkeys/sign-in-options", expected: masters(200) },
  "POST signInWithPasskey": {
    path: "/passkeys/sign-in",
    json: { response: assertion },
    expected: masters(401),
  },
  "GET listPasskeys": { path: `/users/${ada}/passkeys`, expected: ownerAndAdmin(200) },
  "DELETE removePasskey": { path: `/users/${ada}/passkeys/none`, expected: ownerAndAdmin(404) },
  "POST changeEmail": {
    path: `/users/${ada}/email`,
    json: { email, link },
    expected: everyone(401),
  },
  "PUT confirmEmail": { path: `/email-changes/${noToken}`, expected: everyone(404) },
  "GET startSocialSignIn": { path: "/auth/idp", expected: everyone(503) },
  "GET finishSocialSignIn": { path: "/auth/idp/callback", expected: everyone(400) },
  "POST linkProvider": { path: "/auth/idp/links", expected: users(503) },
  "GET showProviderUser": { path: "/auth/idp/userinfo", expected: users(404) },
  "POST finishPostedSignIn": { path: "/auth/idp/callback", expected: everyone(405) },
  "GET listLinks": { path: `/users/${ada}/links`, expected: ownerAndAdmin(200) },
  "DELETE removeLink": { path: `/users/${ada}/links/none`, expected: ownerAndAdmin(404) },
  "POST createPasswordReset": {
    path: "/password-resets",
    json: { email, link },
    expected: masters(202),
  },
  "GET showPasswordReset": { path: `/password-resets/${noToken}`, expected: everyone(404) },
  "PUT usePasswordReset": {
    path: `/password-resets/${noToken}`,
    json: { password },
    expected: everyone(404),
  },
  "GET listArticles": { path: "/articles", expected: everyone(200) },
  "QUERY queryArticles": { path: "/articles", json: {}, expected: everyone(200) },
  "POST createArticle": { path: "/articles", json: { title: "t" }, expected: users(201) },
  "GET showArticle": { path: `/articles/${articleId}`, expected: everyone(200) },
  "PUT updateArticle": {
    path: `/articles/${articleId}`,
    json: { title: "t" },
    expected: ownerAndAdmin(200),
  },
  "PATCH patchArticle": {
    path: `/articles/${articleId}`,
    json: { title: "t" },
    expected: ownerAndAdmin(200),
  },
  "DELETE removeArticle": { path: `/articles/${articleId}`, expected: ownerAndAdmin(204) },
  "GET listWebhooks": { path: "/webhooks", expected: admins(200) },
  "POST createWebhook": { path: "/webhooks", json: { url }, expected: admins(201) },
  "GET showWebhook": { path: "/webhooks/none", expected: admins(404) },
  "PATCH updateWebhook": { path: "/webhooks/none", json: { url }, expected: admins(404) },
  "DELETE removeWebhook": { path: "/webhooks/none", expected: admins(404) },
  "GET listDeliveries": { path: "/webhooks/none/deliveries", expected: admins(404) },
  "POST replayDelivery": { path: "/webhooks/none/deliveries/none/replays", expected: admins(404) },
};

/** Operations that ask for the password of the user, and what its owner gets. */
const byPassword: Readonly<Record<string, number>> = {
  "PUT updatePassword": 200,
  "POST enableSecondFactor": 201,
  "POST changeEmail": 202,
  // For admins, on a page of this origin.
  "POST signInPage": 403,
};

const tokens = createSessionTokens({ secret: jwtSecret, lifetime: 60 });
const key = new TextEncoder().encode(jwtSecret);
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = rsa.publicKey.export({ type: "spki", format: "pem" });
const now = Math.floor(Date.now() / 1_000);

/** Claims that would make their bearer an admin. */
const claims = { sub: "root", sv: 1, iat: now, exp: now + 60 };

function signed(secret: string | Uint8Array, changed: Readonly<Record<string, unknown>> = {}) {
  const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : secret;
  return new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: "HS256" }).sign(bytes);
}

/** Everybody who may come, with whose status they get and what they show. */
const callers: Readonly<
  Record<
    string,
    readonly [Role, (world: World) => Promise<string | undefined> | string | undefined]
  >
> = {
  nobody: ["nobody", () => undefined],
  "another user": ["other", ({ accounts }) => tokens.issue(accounts.bob)],
  "the owner": ["owner", ({ accounts }) => tokens.issue(accounts.ada)],
  "an admin": ["admin", ({ accounts }) => tokens.issue(accounts.root)],
  "the master key": ["master", () => masterKey],
  "a part of the master key": ["nobody", () => masterKey.slice(0, -1)],
  "no token at all": ["nobody", () => "undefined"],
  "an expired token": ["nobody", () => signed(key, { iat: now - 60, exp: now - 1 })],
  "a token without an end": ["nobody", () => signed(key, { exp: undefined })],
  "a token of another secret": ["nobody", () => signed("f".repeat(32))],
  "a token of an empty secret": ["nobody", () => signed("\0".repeat(32))],
  "a token signed with the master key": ["nobody", () => signed(masterKey)],
  "a token of a deleted user": ["nobody", ({ accounts }) => tokens.issue(accounts.gone)],
  "a token from before the password changed": [
    "nobody",
    ({ accounts }) => tokens.issue(accounts.changed),
  ],
  "a token of another issuer": [
    "nobody",
    () =>
      new SignJWT({ ...claims, iss: "https://idp.example", aud: "http://localhost:9000" })
        .setProtectedHeader({ alg: "RS256", kid: "1" })
        .sign(rsa.privateKey),
  ],
  "a token with alg none": ["nobody", () => new UnsecuredJWT(claims).encode()],
  "a token with alg NONE and the signature of another": [
    "nobody",
    async ({ accounts }) => {
      const [, , signature] = (await tokens.issue(accounts.bob)).split(".");
      return `${encode({ alg: "NONE" })}.${encode(claims)}.${signature}`;
    },
  ],
  "a token with changed claims": [
    "nobody",
    async ({ accounts }) => {
      const [header, , signature] = (await tokens.issue(accounts.bob)).split(".");
      return `${header}.${encode(claims)}.${signature}`;
    },
  ],
  "a token of a public key taken for a secret": ["nobody", () => signed(pem.toString())],
  "a token with a separate key": [
    "nobody",
    () =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", jwk: rsa.publicKey.export({ format: "jwk" }) })
        .sign(rsa.privateKey),
  ],
  "a token of the right secret and another algorithm": [
    "nobody",
    () => {
      const unsigned = `${encode({ alg: "HS512", typ: "JWT" })}.${encode(claims)}`;
      return `${unsigned}.${createHmac("sha512", jwtSecret).update(unsigned).digest("base64url")}`;
    },
  ],
};

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

let passwordHash = "";

beforeAll(async () => {
  passwordHash = await hashPassword("123456");
});

async function openWorld(): Promise<World> {
  const store = await openStore("sqlite::memory:");
  const app = openBlog(store, {
    logs: {
      started: () => undefined,
      noted: () => undefined,
      failed: () => undefined,
      warned: () => undefined,
    },
    publicUrl: "http://localhost:9000",
    mail: { from: "no-reply@blog.example", linkOrigins: ["http://localhost:9000"] },
    providers: [
      {
        name: "idp",
        issuer: "http://127.0.0.1:1",
        clientId: "blog",
        audience: "http://localhost:9000",
      },
    ],
  });
  const account = (id: string, role = "user"): Account => ({
    id,
    role,
    passwordHash,
    sessionVersion: 1,
  });
  return {
    app,
    store,
    accounts: {
      ada: account("ada"),
      bob: account("bob"),
      root: account("root", "admin"),
      gone: account("gone", "admin"),
      changed: account("changed", "admin"),
    },
  };
}

/** Puts back what callers before have changed. */
async function restore({ store, accounts }: World): Promise<void> {
  const people = store.collection(user.collection);
  await people.removeMany({ where: {} });
  for (const { id, role: name } of [accounts.ada, accounts.bob, accounts.root, accounts.changed]) {
    const sessionVersion = id === "changed" ? 2 : 1;
    const role = name === "admin" ? ("admin" as const) : ("user" as const);
    const fields = { email: `${id}@example.com`, name: id, picture: url, role };
    await people.insert({ ...fields, passwordHash, sessionVersion }, { id });
  }
  const articles = store.collection(article.collection);
  await articles.removeMany({ where: {} });
  await articles.insert({ title: "Mine", content: "", author: ada }, { id: articleId });
}

async function contentOf({ store }: World): Promise<unknown> {
  return [
    await store.collection(user.collection).find({ sort: ["id"] }),
    await store.collection(article.collection).find({ sort: ["id"] }),
  ];
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly authorization?: string | undefined;
}

async function ask(
  { app }: World,
  { method, path, json, authorization }: Asked,
): Promise<Response> {
  const request = new Request(new URL(path, "http://localhost:9000"), {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
    },
    body: json === undefined ? null : JSON.stringify(json),
  });
  return app.handler(request, createContext(request, { reportError: () => undefined }));
}

let described: readonly string[] = [];

beforeAll(async () => {
  const world = await openWorld();
  described = Object.values(world.app.openApi.paths).flatMap((methods) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, { operationId }]) => `${method.toUpperCase()} ${operationId}`,
    ),
  );
  await world.store.close();
});

it("the table of who may do what has every operation, and no other", () => {
  expect(Object.keys(table).toSorted()).toEqual(described.toSorted());
});

describe.each(Object.entries(table))("%s", (operation, { path, json, expected }) => {
  let world: World;
  /** The restored content, unless a request may have changed it. */
  let content: unknown;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.store.close());

  async function restoredContent(): Promise<unknown> {
    if (content !== undefined) return content;
    await restore(world);
    return contentOf(world);
  }

  /** Checks that a refused request has changed nothing. */
  async function checkUnchanged({ status }: Response, before: unknown): Promise<void> {
    content = undefined;
    if (status < 400) return;
    expect(await contentOf(world)).toEqual(before);
    content = before;
  }

  it.each(Object.entries(callers))("answers %s", async (_who, [role, show]) => {
    const before = await restoredContent();
    const token = await show(world);
    const [method = ""] = operation.split(" ");
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const response = await ask(world, { method, path, json, authorization });
    await checkUnchanged(response, before);
    expect(response.status).toBe(expected[role]);
    if (response.status === 401) {
      expect(response.headers.get("www-authenticate")).toMatch(/^(?:Bearer|Basic) realm="api"/);
    }
    const text = await response.text();
    expect(text).not.toMatch(/argon2|passwordHash|sessionVersion/);
  });

  it.each([
    ["the owner's", "ada", 200],
    ["another user's", "bob", 403],
    ["an admin's", "root", 403],
    ["a deleted user's", "gone", 401],
  ])("takes %s password only where it is asked for", async (_whose, name, status) => {
    const before = await restoredContent();
    const [method = ""] = operation.split(" ");
    const authorization = `Basic ${btoa(`${name}@example.com:123456`)}`;
    const response = await ask(world, { method, path, json, authorization });
    await checkUnchanged(response, before);
    const done = byPassword[operation];
    const own = status === 200 && done !== undefined ? done : status;
    expect(response.status).toBe(done === undefined ? expected.nobody : own);
  });
});
