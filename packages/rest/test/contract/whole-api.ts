import type { Store } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { argon2id } from "../../src/accounts/argon2.ts";
import { createAuthentication } from "../../src/accounts/create-authentication.ts";
import { type Api, createApi } from "../../src/http/api.ts";
import { idempotencyRecords } from "../../src/http/idempotency/idempotency-record.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import {
  createResourceController,
  type ResourceController,
} from "../../src/operations/resource-controller.ts";
import { defineRoute } from "../../src/plan/route.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";

export const person = defineResource({
  name: "person",
  path: "/people",
  schema: z.object({
    name: z.string().trim().min(1).max(40),
    email: z.email().optional(),
    pin: z.string().max(20).optional(),
    level: z.number().int().min(0).max(9).default(0),
  }),
  access: { list: "public", show: "public", create: "public", update: "user", remove: "user" },
  unique: ["email"],
  fields: { pin: { read: "nobody" }, level: { write: "nobody" } },
  computed: {
    initial: { schema: z.string(), value: ({ name }) => name.slice(0, 1) },
  },
  search: ["name"],
  sort: ["name"],
  filter: ["name", "level", "createdAt"],
  softDelete: true,
  list: { shape: "rows" },
  relations: { articles: { to: (): Resource => article, inverse: "author" } },
});

export const article = defineResource({
  name: "article",
  path: "/blog/articles",
  schema: z.object({
    title: z.string().min(1).max(60),
    author: z.string(),
    reviewer: z.string().nullable().optional(),
    kind: z.enum(["news", "essay"]).default("news"),
    stars: z.number().min(0).max(5).optional(),
    public: z.boolean().default(true),
    tags: z.array(z.string().max(10)).max(5).default([]),
    at: z.iso.datetime().optional(),
    more: z.record(z.string().max(10), z.number()).optional(),
  }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "writer",
  search: ["title"],
  sort: ["title", "stars"],
  filter: ["title", "stars", "kind", "public", "tags", "at"],
  groups: ["kind", "stars", "public", "author", "at", "createdAt", "writer"],
  fields: { at: "user", reviewer: { write: "owner" } },
  bulk: { limit: 10 },
  relations: {
    author: { to: () => person, onDelete: "cascade" },
    reviewer: { to: () => person, onDelete: "nullify" },
    notes: { to: (): Resource => note, inverse: "article", limit: 5 },
  },
  populate: { paths: ["author", "reviewer", "notes", "author.articles"] },
});

export const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string().max(100),
    article: z.string(),
    place: z
      .object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
      .optional(),
  }),
  access: {
    list: ({ user }) => user !== undefined,
    show: "user",
    create: "user",
    update: ({ user }) => user?.role === "admin",
    remove: "admin",
  },
  geo: "place",
  list: { count: 10 },
  hooks: {
    beforeCreate({ fields }) {
      if (fields.text === "no") throw new Problem(403, { detail: "not this text" });
    },
  },
  relations: { article: { to: () => article, onDelete: "restrict" } },
});

export const vault = defineResource({
  name: "vault",
  path: "/vaults",
  schema: z.object({ key: z.string().max(20) }),
  access: {
    list: "master",
    show: "master",
    create: "master",
    update: "master",
    remove: "master",
  },
  list: { count: "none" },
  bulk: true,
});

const rating = defineRoute({
  method: "POST",
  path: "/blog/articles/:id/ratings",
  operation: "rateArticle",
  summary: "Rates an article",
  tag: "articles",
  access: "user",
  atomic: true,
  body: z.object({ stars: z.number().int().min(1).max(5) }),
  response: z.object({ stars: z.number() }),
  responses: { 201: { description: "Rated" }, 404: { description: "There is no such article" } },
  async handle({ body, params, store }) {
    const articles = store.collection(article.collection);
    const changed = await articles.update(params["id"] ?? "", { stars: body.stars });
    if (!changed) throw new Problem(404);
    return json({ stars: body.stars }, { status: 201 });
  },
});

const ping = defineRoute({
  method: "POST",
  path: "/ping",
  operation: "ping",
  summary: "Answers",
  tag: "ping",
  access: "public",
  responses: { 204: { description: "It is there" } },
  handle: () => empty(),
});

const signIn = defineRoute({
  method: "POST",
  path: "/sessions",
  operation: "signIn",
  summary: "Signs a user in",
  tag: "sessions",
  access: "master+password",
  response: z.object({ token: z.string() }),
  responses: { 201: { description: "A token" } },
  async handle({ tokens, user }) {
    const headers = { "cache-control": "no-store" };
    return json({ token: await tokens.issue(user) }, { status: 201, headers });
  },
});

const changePassword = defineRoute({
  method: "PUT",
  path: "/password",
  operation: "changePassword",
  summary: "Checks a new password",
  tag: "sessions",
  access: "password",
  body: z.object({ password: z.string().min(6).max(60) }),
  responses: { 204: { description: "It will do" } },
  handle: () => empty(),
});

const password = "correct horse";
// Of the least cost that there is, since requests come by the thousand.
const nonce = new Uint8Array(16);
const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
const tag = await argon2id({ ...cost, message: Buffer.from(password), nonce }, "first");
const bare = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString("base64").replace(/=+$/, "");
const passwordHash = `$argon2id$v=19$m=8,t=1,p=1$${bare(nonce)}$${bare(tag)}`;

const accounts = ["ann", "bob", "root"].map((id) => ({
  id,
  role: id === "root" ? "admin" : "user",
  passwordHash,
  sessionVersion: 1,
}));

/** Everything that the API stores. */
export const collections = [
  person.collection,
  article.collection,
  note.collection,
  vault.collection,
  idempotencyRecords,
] as const;

/** How a caller shows who it is. */
export interface Caller {
  readonly authorization?: string;
  /** Token in the query. */
  readonly queryToken?: string;
}

/** The handlers as the package makes them. */
const ownControllers = {
  person: createResourceController(person),
  article: createResourceController(article),
  note: createResourceController(note),
  vault: createResourceController(vault),
};

/** Handlers of the four resources. */
export interface WholeControllers {
  readonly person: ResourceController<typeof person.schema>;
  readonly article: ResourceController<typeof article.schema>;
  readonly note: ResourceController<typeof note.schema>;
  readonly vault: ResourceController<typeof vault.schema>;
}

/** Makes an API that uses every feature, and its callers. */
export async function makeWholeApi(
  store: Store,
  controllers: WholeControllers = ownControllers,
): Promise<{ readonly api: Api; readonly callers: readonly Caller[] }> {
  const masterKey = "m".repeat(32);
  const authentication = createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (wanted) => accounts.find(({ id }) => id === wanted),
      byEmail: async (email) => accounts.find(({ id }) => `${id}@example.com` === email),
    },
  });
  const api = createApi({
    title: "Whole",
    version: "1.0.0",
    store,
    authentication,
    routes: [
      ...resourceRoutes(person, controllers.person),
      ...resourceRoutes(article, controllers.article),
      ...resourceRoutes(note, controllers.note),
      ...resourceRoutes(vault, controllers.vault),
      rating,
      ping,
      signIn,
      changePassword,
    ],
  });
  const issued = await Promise.all(accounts.map((account) => authentication.tokens.issue(account)));
  const basic = (secret: string): string => `Basic ${btoa(`ann@example.com:${secret}`)}`;
  return {
    api,
    callers: [
      ...[...issued, masterKey, "wrong"].map((token) => ({ authorization: `Bearer ${token}` })),
      {},
      { authorization: basic(password), queryToken: masterKey },
      { authorization: basic("wrong") },
    ],
  };
}
