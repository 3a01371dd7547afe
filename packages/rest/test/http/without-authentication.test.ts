import { empty } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AccessRule } from "../../src/access.ts";
import { createAuthentication } from "../../src/accounts/create-authentication.ts";
import { RestError } from "../../src/errors.ts";
import { type Authentication, createCustomAuthentication } from "../../src/http/authentication.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute, type Route } from "../../src/plan/route.ts";
import type { Operation, ResourceRule } from "../../src/resource/access-rules.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { masterKey, openApi } from "../api-client.ts";

const open = {
  list: "public",
  show: "public",
  create: "public",
  update: "public",
  remove: "public",
} as const;

function notes(access: Partial<Record<Operation, ResourceRule>>): readonly Route[] {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    access,
  });
  return resourceRoutes(note, createResourceController(note));
}

function ping(access: AccessRule): Route {
  return defineRoute({
    method: "POST",
    path: "/ping",
    operation: "ping",
    summary: "Ping",
    tag: "ping",
    access,
    responses: { 204: { description: "Pong" } },
    handle: () => empty(),
  });
}

async function errorOf(routes: readonly Route[], authentication?: Authentication): Promise<string> {
  const error: unknown = await openApi({ routes, authentication }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RestError);
  expect(error).toMatchObject({ code: "ERR_REST_CONFIGURATION" });
  return (error as RestError).message;
}

describe("createApi without authentication", () => {
  it("serves an API of public routes", async () => {
    const { send } = await openApi({
      routes: [...notes(open), ping("public")],
      authentication: undefined,
    });
    const created = await send("POST", "/notes", { body: new URLSearchParams({ text: "a" }) });
    expect(created.status).toBe(201);
    const list = await send("GET", "/notes", { headers: { authorization: "Bearer x" } });
    expect(await list.json()).toMatchObject([{ text: "a" }]);
    expect((await send("POST", "/ping")).status).toBe(204);
  });

  it("refuses a resource whose rules need a caller, with its name and what to pass", async () => {
    expect(
      await errorOf(notes({ list: "public", show: "public", create: "user", update: "public" })),
    ).toBe(
      'createApi needs authentication for create (access "user"), remove (access "admin") of the resource "note": ' +
        'pass authentication: createAuthentication({ masterKey, jwtSecret, accounts }), or set their access to "public"',
    );
  });

  it("suggests the master key alone where no rule needs a user", async () => {
    expect(await errorOf([...notes({ ...open, remove: "master" }), ping("master")])).toBe(
      'createApi needs authentication for remove (access "master") of the resource "note", POST /ping (access "master"): ' +
        'pass authentication: createAuthentication({ masterKey }), or set their access to "public"',
    );
  });

  it.each<AccessRule>(["user", "admin", "master", "password", "master+password"])(
    "refuses a route of the rule %s",
    async (rule) => {
      expect(await errorOf([ping(rule)])).toContain(`POST /ping (access "${rule}")`);
    },
  );

  it("refuses a resource whose access is a function, which decides about the caller", async () => {
    const message = await errorOf(notes({ ...open, update: ({ user }) => user?.role === "admin" }));
    expect(message).toContain('update (access is a function) of the resource "note"');
  });

  it("refuses a resource whose fields only some callers set", async () => {
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string(), grade: z.number().optional() }),
      access: open,
      fields: { grade: { write: "admin" } },
    });
    const message = await errorOf(resourceRoutes(note, createResourceController(note)));
    expect(message).toContain("create (sets fields that only some callers set)");
  });
});

describe("createApi with a master key alone", () => {
  const authentication = createAuthentication({ masterKey });

  it("serves routes for everyone and for the master key", async () => {
    const routes = notes({ ...open, create: "master", update: "master", remove: "master" });
    const { send } = await openApi({ routes, authentication });
    const text = new URLSearchParams({ text: "a" });
    expect((await send("POST", "/notes", { body: text })).status).toBe(401);
    const wrong = { authorization: "Bearer wrong" };
    expect((await send("POST", "/notes", { body: text, headers: wrong })).status).toBe(401);
    const headers = { authorization: `Bearer ${masterKey}` };
    expect((await send("POST", "/notes", { body: text, headers })).status).toBe(201);
    expect((await send("GET", "/notes", { headers })).status).toBe(200);
  });

  it("refuses rules that only users meet", async () => {
    expect(await errorOf(notes({ ...open, remove: "admin" }), authentication)).toBe(
      'createAuthentication needs jwtSecret and accounts for remove (access "admin") of the resource "note": ' +
        'pass both, or set their access to "public" or "master"',
    );
  });

  it("accepts a function as access, which may ask for the master key", async () => {
    await openApi({
      routes: notes({ ...open, update: ({ isMaster }) => isMaster }),
      authentication,
    });
  });

  it("issues no session tokens", async () => {
    const account = { id: "1", role: "user", passwordHash: "", sessionVersion: 1 };
    await expect(authentication.tokens.issue(account)).rejects.toThrow("jwtSecret");
  });
});

describe("createApi with createCustomAuthentication", () => {
  const authentication = createCustomAuthentication(async (token) =>
    token === undefined ? undefined : { id: token, role: "user" },
  );

  it.each<AccessRule>(["master", "password", "master+password"])(
    "refuses a route of the rule %s",
    async (rule) => {
      expect(await errorOf([...notes(open), ping(rule)], authentication)).toBe(
        `createCustomAuthentication knows neither a master key nor passwords, needed for POST /ping (access "${rule}"): ` +
          'set their access to "public", "user" or "admin"',
      );
    },
  );

  it("refuses a resource that needs the master key, with its name", async () => {
    expect(await errorOf(notes({ ...open, remove: "master" }), authentication)).toContain(
      'remove (access "master") of the resource "note"',
    );
  });

  it("serves routes for everyone, for users and for admins", async () => {
    const routes = [...notes({ ...open, create: "user", remove: "admin" }), ping("admin")];
    const { send } = await openApi({ routes, authentication });
    const headers = { authorization: "Bearer ann" };
    expect((await send("POST", "/ping")).status).toBe(401);
    expect((await send("POST", "/ping", { headers })).status).toBe(403);
  });
});

describe("createAuthentication", () => {
  const jwtSecret = "j".repeat(32);
  const accounts = { byId: async () => undefined, byEmail: async () => undefined };

  it.each([
    ["jwtSecret", { masterKey, jwtSecret }],
    ["tokenLifetime", { masterKey, tokenLifetime: 60 }],
  ])("refuses %s without accounts", (name, options) => {
    expect(() => createAuthentication(options)).toThrow(
      `${name} is given without accounts: pass jwtSecret and accounts, or masterKey alone`,
    );
  });

  it.each([
    ["", 0],
    ["short", 5],
  ])("names the variable of a master key that is too short: %j", (short, length) => {
    expect(() => createAuthentication({ masterKey: short })).toThrow(
      `masterKey must have at least 32 characters (got ${length}): set MASTER_KEY, for example to the output of "openssl rand -hex 32"`,
    );
  });

  it.each([[""], [undefined]])("names the variable of the JWT secret %j", (secret) => {
    expect(() => createAuthentication({ masterKey, jwtSecret: secret, accounts })).toThrow(
      'jwtSecret must have at least 32 characters (got 0): set JWT_SECRET, for example to the output of "openssl rand -hex 32"',
    );
  });
});
