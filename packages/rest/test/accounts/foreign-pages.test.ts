import { describe, expect, it } from "vitest";
import { challengeCollection } from "../../src/accounts/passkeys/passkey.ts";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { z } from "zod";
import { openAccounts, password, type Sent, type TestAccounts } from "./open-accounts.ts";
import { softwareAuthenticator } from "./software-authenticator.ts";

const samePage = { "sec-fetch-site": "same-origin" };
const basic = ["ada@example.com", password] as const;

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  owner: "author",
  access: { list: "user", show: "user", create: "user", update: "owner", remove: "owner" },
});
const routes = resourceRoutes(note, createResourceController(note));

/** Signs an admin in on a page, by a cookie that was set before or none. */
async function openPage(
  before?: string,
): Promise<TestAccounts & { readonly cookie: string; readonly id: string }> {
  const api = await openAccounts({ signIn: "public", routes });
  const id = await api.create("ada@example.com", "admin");
  const headers = { ...samePage, ...(before === undefined ? {} : { cookie: before }) };
  const { headers: answered, status } = await api.send("POST", "/auth/cookie", { basic, headers });
  expect(status).toBe(201);
  return { ...api, cookie: (answered.get("set-cookie") ?? "").split(";")[0] ?? "", id };
}

/** What a browser says of requests of other pages, and what others leave out. */
const foreign: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["of another site", { "sec-fetch-site": "cross-site" }],
  ["of another host of the site", { "sec-fetch-site": "same-site" }],
  ["of no page", { "sec-fetch-site": "none" }],
  ["of another origin", { origin: "https://evil.example" }],
  ["of another port", { origin: "http://localhost:8080" }],
  ["of a host that begins like ours", { origin: "http://localhost.evil.example" }],
  ["of a host with a name of a user", { origin: "http://localhost@evil.example" }],
  ["of an opaque origin", { origin: "null" }],
  ["of an origin that is none", { origin: "localhost" }],
  ["of several origins", { origin: "http://localhost http://evil.example" }],
  ["without a word of where it comes from", {}],
  [
    "of another site with an Origin of ours",
    { "sec-fetch-site": "cross-site", origin: "http://localhost" },
  ],
  ["of a site in another case", { "sec-fetch-site": "Same-Origin" }],
];

/** Every body that a form of another page can send, and JSON. */
const bodies: readonly Sent[] = [
  { json: { text: "t", name: "x", role: "user", scopes: ["*:write"] } },
  { form: { text: "t", name: "x", role: "user" } },
  { json: { text: "t", name: "x", role: "user" }, headers: { "content-type": "text/plain" } },
  {},
];

describe("the cookie of a page", () => {
  it.each(foreign)("changes nothing for a request %s", async (_what, headers) => {
    const { cookie, id, openApi, send } = await openPage();
    const made = await send("POST", "/notes", {
      headers: { cookie, ...samePage },
      json: { text: "t" },
    });
    expect(made.status).toBe(201);
    const changing = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, operation, path })),
    );
    let count = 0;
    for (const { method, operation, path } of changing) {
      if (["get", "head", "query", "parameters"].includes(method)) continue;
      const needsUser = JSON.stringify(operation).includes(`"security":[{"token"`);
      if (!needsUser) continue;
      const isNote = path.startsWith("/notes");
      const url = path.replace(/\{[^}]*\}/g, (part) =>
        part !== "{id}" ? "x" : isNote ? made.json.id : id,
      );
      for (const sent of bodies) {
        const all = { cookie, ...headers, ...sent.headers };
        const { status } = await send(method.toUpperCase(), url, { ...sent, headers: all });
        // A form of another page sends text/plain, which is refused before anything else is looked
        // at.
        const isText = sent.headers !== undefined && status === 415;
        expect([method, url, isText ? 401 : status]).toEqual([method, url, 401]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(40);
    const me = await send("GET", "/users/me", { headers: { cookie, ...samePage } });
    expect(me.json).toMatchObject({ name: "ada", role: "admin" });
    expect((await send("GET", "/notes", { headers: { cookie, ...samePage } })).json).toEqual([
      made.json,
    ]);
  });

  it.each(foreign)("is not set by a sign-in %s", async (_what, headers) => {
    const api = await openPage();
    const { cookie, send, store } = api;
    const begun = await send("POST", "/passkeys/registration-options", {
      headers: { cookie, ...samePage },
    });
    const authenticator = softwareAuthenticator();
    const response = authenticator.register(begun.json);
    const registered = await send("POST", "/passkeys", {
      headers: { cookie, ...samePage },
      json: { name: "n", response },
    });
    expect(registered.status).toBe(201);
    const before = await store.collection(sessionCollection).count();
    const { json } = await send("POST", "/passkeys/sign-in-options");
    const passkey = { response: authenticator.signIn(json), cookie: true };
    for (const answer of [
      await send("POST", "/auth/cookie", { basic, headers }),
      await send("POST", "/auth/cookie", { basic, headers: { ...headers, cookie } }),
      await send("POST", "/passkeys/sign-in", { json: passkey, headers }),
    ]) {
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    }
    expect(await store.collection(sessionCollection).count()).toBe(before);
    // The refusal has not used the challenge up.
    expect(await store.collection(challengeCollection).count()).toBe(1);
  });

  it("that was set before a sign-in is not adopted", async () => {
    const before = "session=fixed";
    const api = await openPage(before);
    expect(api.cookie).not.toBe(before);
    const withOld = await api.send("GET", "/users/me", {
      headers: { cookie: before, ...samePage },
    });
    expect(withOld.status).toBe(401);
  });

  it("of a live session is another one after each sign-in, and the former stays its user's", async () => {
    const { cookie, create, send } = await openPage();
    await create("eve@example.com", "admin");
    const eve = await send("POST", "/auth/cookie", {
      basic: ["eve@example.com", password],
      headers: { cookie, ...samePage },
    });
    const next = (eve.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect(next).not.toBe(cookie);
    const names = [cookie, next].map(async (one) => {
      const { json } = await send("GET", "/users/me", { headers: { cookie: one, ...samePage } });
      return json.name;
    });
    expect(await Promise.all(names)).toEqual(["ada", "eve"]);
  });

  it("of an API by HTTPS is not used by a page of the same host without it", async () => {
    const settings = { origin: "https://localhost" };
    const api = await openAccounts({ signIn: "public", settings });
    await api.create("ada@example.com");
    const plain = { origin: "http://localhost" };
    const refused = await api.send("POST", "/auth/cookie", { basic, headers: plain });
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
    const secure = { origin: "https://localhost" };
    const { headers, status } = await api.send("POST", "/auth/cookie", { basic, headers: secure });
    expect(status).toBe(201);
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const out = (more: object) =>
      api.send("DELETE", "/auth/cookie", { headers: { cookie, ...more } });
    expect((await out(plain)).status).toBe(401);
    expect((await out(secure)).status).toBe(204);
  });
});
