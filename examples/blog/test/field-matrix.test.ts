import { openStore, type Store } from "@fetchwork/documents";
import {
  createApi,
  createResourceController,
  defineResource,
  resourceRoutes,
  type Resource,
  type Route,
} from "@fetchwork/rest";
import { view } from "@fetchwork/rest/handlers";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { article } from "../src/api/article/model.ts";
import { routes } from "../src/api/index.ts";
import { user } from "../src/api/user/model.ts";
import { nameOf, pictureOf } from "../../../packages/rest/src/accounts/users/profile.ts";
import { account } from "../src/services/accounts.ts";
import { jwtSecret, masterKey } from "./api-client.ts";
import { tryMatrix, type Marked, type MatrixCaller, type MatrixResult } from "./field-matrix.ts";

const people = { ada: "user", bob: "user", root: "admin", eve: "user" } as const;

/**
 * What `fetchwork add review 'text:string!' 'by:ref(user)?'` makes, with relations of every kind
 * besides.
 */
function reviewOf(target: Resource): Resource {
  return defineResource({
    name: "review",
    path: "/reviews",
    schema: z.object({
      text: z.string(),
      by: z.string().optional(),
      readers: z.array(z.string()).default([]),
      about: z.string().optional(),
    }),
    access: { list: "public", show: "public", create: "user", update: "owner" },
    owner: "author",
    search: ["text"],
    filter: ["text", "by"],
    sort: ["text"],
    relations: {
      by: { to: () => target },
      readers: { to: () => target, many: true },
      writer: { to: () => target, field: "author" },
      about: { to: () => article },
    },
  });
}

async function fill(store: Store, review: Resource): Promise<Map<Resource, readonly Marked[]>> {
  const users: Marked[] = [];
  for (const [id, role] of Object.entries(people)) {
    const shown = {
      name: `canary-name-${id}`,
      picture: `https://canary.example/${id}.png`,
      email: `canary-email-${id}@example.com`,
      role,
    };
    const hidden = { passwordHash: `canary-hash-${id}`, sessionVersion: 1 };
    const { email } = shown;
    // Eve has set neither name nor picture: they follow from the email and the identifier.
    const given = id === "eve" ? { email, role } : shown;
    await store.collection(user.collection).insert({ ...given, ...hidden }, { id });
    const seen = id === "eve" ? { name: nameOf(email), picture: pictureOf(id) } : {};
    users.push({ id, fields: { ...shown, ...seen, ...hidden }, derived: Object.keys(seen) });
  }
  const own = { title: "canary-title", content: "canary-content" };
  await store.collection(article.collection).insert({ ...own, author: "ada" }, { id: "one" });
  await store.collection(article.collection).insert({ ...own, author: "eve" }, { id: "three" });
  const fields = { text: "canary-text", by: "ada", readers: ["ada", "bob", "eve"], about: "one" };
  await store.collection(review.collection).insert({ ...fields, author: "bob" }, { id: "two" });
  return new Map<Resource, readonly Marked[]>([
    [user, users],
    [
      article,
      [
        { id: "one", fields: { ...own, author: "ada" } },
        { id: "three", fields: { ...own, author: "eve" } },
      ],
    ],
    [review, [{ id: "two", fields: { ...fields, author: "bob" } }]],
  ]);
}

const owners = ["ada", "bob", "eve"];
const publicFields = ["id", "name", "picture"];
const ownFields = [...publicFields, "email", "role", "createdAt"];
const openFields: Readonly<Record<string, readonly string[]>> = {
  article: ["id", "title", "content", "createdAt", "updatedAt", "author"],
  review: ["id", "text", "by", "readers", "about", "createdAt", "updatedAt", "author"],
};

/** Who may see what: decisions 2B 12 and 14 for users, and everything for the rest. */
function maySee(caller: string, resource: Resource, id: string): readonly string[] {
  if (resource.name !== "user") return openFields[resource.name] ?? [];
  if (caller === id || caller === "root") return ownFields;
  const derived = id === "eve" ? ["id"] : publicFields;
  // Everyone sees the owners of documents, and signed-in users see all users.
  return owners.includes(id) || !["nobody", "the master key"].includes(caller) ? derived : ["id"];
}

/** Tries the API of the blog with reviews, whose relations lead to `target`. */
async function tryBlog({
  target = user,
  more = (own) => own,
}: {
  readonly target?: Resource;
  readonly more?: (own: readonly Route[]) => readonly Route[];
} = {}): Promise<MatrixResult> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const review = reviewOf(target);
  const accounts = account.open(store, { masterKey, jwtSecret, title: "T" });
  const { authentication } = accounts;
  const own = [
    ...accounts.routes,
    ...routes,
    ...resourceRoutes(review, createResourceController(review)),
  ];
  const about = { title: "Blog", version: "1", store, authentication };
  const api = createApi({ ...about, routes: more(own) });
  const documents = await fill(store, review);
  const names = ["nobody", ...Object.keys(people), "the master key"];
  const callers = await Promise.all(
    names.map(async (name): Promise<MatrixCaller> => {
      const found = await store.collection(user.collection).get(name);
      const token = name === "the master key" ? masterKey : undefined;
      return {
        name,
        token: found ? await authentication.tokens.issue(found) : token,
        maySee: (resource, id) => maySee(name, resource, id),
      };
    }),
  );
  return tryMatrix({ api, documents, callers });
}

describe("the matrix of callers, fields and ways to them", () => {
  it("has no field that a caller reads or asks about without being allowed to", async () => {
    const { leaks, requests, seen } = await tryBlog();
    expect(leaks).toEqual([]);
    expect(requests).toBeGreaterThan(500);
    // Else nothing would have been tried.
    for (const field of ownFields) expect(seen).toContain(`ada ${field} user ada`);
    for (const field of ownFields) expect(seen).toContain(`root ${field} user bob`);
    for (const field of publicFields) expect(seen).toContain(`bob ${field} user ada`);
    for (const field of publicFields) expect(seen).toContain(`nobody ${field} user ada`);
    for (const field of publicFields) expect(seen).toContain(`eve ${field} user eve`);
    for (const field of openFields["review"] ?? [])
      expect(seen).toContain(`nobody ${field} review two`);
  });

  it("reports a leak through populate", async () => {
    const all = ["id", "name", "picture", "email", "role", "createdAt"];
    const leaky: Resource = { ...user, present: (document) => view(document, all) };
    const { leaks } = await tryBlog({ target: leaky });
    expect(leaks).toContain("bob reads email of user ada by GET /reviews?populate=by");
    expect(leaks).toContain("bob reads role of user ada by GET /reviews/two?populate=readers");
    expect(leaks).toContain("ada reads createdAt of user bob by GET /reviews?populate=writer");
    expect(leaks.filter((leak) => !leak.includes("populate="))).toEqual([]);
  });

  it("reports a leak of hidden fields", async () => {
    const leaky: Resource = { ...user, present: (document) => ({ ...document }) };
    const { leaks } = await tryBlog({ target: leaky });
    expect(leaks).toContain("ada reads passwordHash of user ada by GET /reviews/two?populate=by");
  });

  it("reports a list that lets callers ask about what they do not see", async () => {
    const open: Resource = { ...user, access: { ...user.access, list: "user" } };
    const wide: Resource = { ...open, views: { ...open.views, rulesFor: () => open.list } };
    const listed = (resource: Resource) =>
      resourceRoutes(resource, createResourceController(resource)).filter(
        ({ action }) => action === "list",
      );
    const withList = (resource: Resource) => (own: readonly Route[]) => [
      ...own.filter(({ operation }) => operation !== "listUsers"),
      ...listed(resource),
    ];
    expect((await tryBlog({ more: withList(open) })).leaks).toEqual([]);
    const { leaks } = await tryBlog({ more: withList(wide) });
    expect(leaks).toContain("bob asks about email of user ada by GET /users?sort=email");
    expect(leaks.some((leak) => leak.includes("/users?q=canary-email-ada"))).toBe(true);
  });
});
