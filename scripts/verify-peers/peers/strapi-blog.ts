import { join } from "node:path";
import { freePort } from "../../../test/free-port.ts";
import type { Api, Collection, Dialect, Peer, Planted, QueryPair, Scalar } from "../api.ts";
import { at, type Json, readJson, requestJson } from "./request-json.ts";
import { runCommand, startServer } from "./run-command.ts";
import { idFrom, isAdmin, marked, markedEmail } from "./values.ts";

const version = "5.54.0";

/** The blog that Strapi creates as its example, with the public permissions of its seed. */
export const strapiBlog: Peer = {
  name: "strapi-blog",
  async start(folder) {
    const options = ["--quickstart", "--example", "--no-run", "--skip-cloud", "--no-git-init"];
    await runCommand(
      folder,
      "npx",
      "--yes",
      `create-strapi@${version}`,
      "blog",
      ...options,
      "--use-npm",
      "--install",
    );
    const project = join(folder, "blog");
    await runCommand(project, "npm", "run", "seed:example");
    const port = await freePort();
    const variables = { PORT: String(port), HOST: "127.0.0.1", BROWSER: "none" };
    const server = startServer(project, ["npm", "run", "develop"], variables);
    try {
      await server.line(/Strapi started/);
      return {
        api: await describe(`http://127.0.0.1:${port}`),
        version: `create-strapi ${version} with --example`,
        stop: () => {
          server.kill();
          return Promise.resolve();
        },
      };
    } catch (error) {
      server.kill();
      throw error;
    }
  },
};

async function describe(url: string): Promise<Api> {
  const password = "Password1zq";
  const email = "root@example.com";
  const root = { firstname: "root", lastname: "root", email, password };
  const first = await requestJson(`${url}/admin/register-admin`, { body: root });
  const created = await requestJson(`${url}/admin/api-tokens`, {
    headers: { authorization: `Bearer ${String(at(first, "data.token"))}` },
    body: { name: "verify", description: "", type: "full-access", lifespan: null },
  });
  const admin = { authorization: `Bearer ${String(at(created, "data.accessKey"))}` };
  const tokens = new Map<string, Readonly<Record<string, string>>>();
  let number = 1000;

  const authors = [await plantData("authors", ["name", "email"])];
  const categories = [await plantData("categories", ["name", "description"])];
  const fields = ["title", "description"];
  const links = { author: authors[0]?.id, category: categories[0]?.id };
  const articles = [await plantData("articles", fields, { links })];
  const drafts = [await plantData("articles", fields, { links, isKept: true })];
  const users = [await signUp("ada"), await signUp("bob")];

  const content = {
    mayRead: (kind: string, _: string, { isKept = false }: Planted) => !isKept || isAdmin(kind),
    mayWrite: isAdmin,
    mayCreate: isAdmin,
    mayRemove: isAdmin,
  };
  const collections: readonly Collection[] = [
    {
      ...content,
      name: "article",
      path: "/api/articles",
      documents: articles,
      relations: { author: "author", category: "category" },
      attacks: { title: marked, description: marked, slug: marked },
      sample: (one) => ({ title: marked(one), description: marked(one + 1) }),
    },
    {
      ...content,
      name: "draft article",
      path: "/api/articles",
      documents: drafts,
      relations: { author: "author", category: "category" },
      attacks: { title: marked },
      sample: (one) => ({ title: marked(one) }),
    },
    {
      ...content,
      name: "author",
      path: "/api/authors",
      documents: authors,
      relations: { articles: "article", createdBy: "user" },
      attacks: { name: marked, email: markedEmail },
      sample: (one) => ({ name: marked(one), email: markedEmail(one) }),
    },
    {
      ...content,
      name: "category",
      path: "/api/categories",
      documents: categories,
      relations: { articles: "article" },
      attacks: { name: marked, description: marked },
      sample: (one) => ({ name: marked(one) }),
    },
    {
      name: "user",
      path: "/api/users",
      createPath: "/api/auth/local/register",
      otherPaths: ["/api/users/me"],
      documents: users,
      relations: { role: "role" },
      attacks: {
        username: marked,
        email: markedEmail,
        password: marked,
        provider: marked,
        role: () => 2,
        blocked: () => true,
      },
      sample: (one) => ({
        username: marked(one),
        email: markedEmail(one),
        password: marked(one),
      }),
      mayRead: (kind, field) => field !== "password" && (kind === "owner" || isAdmin(kind)),
      // Anyone who signs up creates a user, and nobody but the admin changes one.
      mayWrite: isAdmin,
      mayCreate: () => true,
      mayRemove: isAdmin,
      async holds(id, field, value) {
        if (field !== "password") return undefined;
        const identifier = at(await readJson(`${url}/api/users/${id}`, admin), "email");
        const body = { identifier, password: value };
        return requestJson(`${url}/api/auth/local`, { body }).then(
          () => true,
          () => false,
        );
      },
    },
  ];
  return {
    url,
    callers: [
      { name: "anonymous", headers: {} },
      ...["ada", "bob"].map((name) => ({ name, headers: tokens.get(name) ?? {} })),
      { name: "admin", headers: admin },
    ],
    collections,
    dialect,
    async observe({ name, path }, id) {
      if (name !== "user") {
        const status = name === "draft article" ? "?status=draft" : "";
        return at(await readJson(`${url}${path}/${id}${status}`, admin), "data") as
          Json | undefined;
      }
      const found = await readJson(`${url}${path}/${id}?populate=role`, admin);
      return found && { ...found, role: at(found, "role.id") };
    },
    plant({ name }, owner) {
      if (name === "user") return register(owner);
      const isKept = name === "draft article";
      const planted = { article: "articles", "draft article": "articles", author: "authors" }[name];
      return plantData(
        planted ?? "categories",
        isKept || planted === "articles" ? ["title"] : ["name"],
        { isKept },
      );
    },
  };

  async function plantData(
    collection: string,
    names: readonly string[],
    {
      isKept = false,
      links: others = {},
    }: { readonly isKept?: boolean; readonly links?: Json } = {},
  ): Promise<Planted> {
    const values = Object.fromEntries(
      names.map((name) => {
        number += 1;
        return [name, name === "email" ? markedEmail(700_000 + number) : marked(700_000 + number)];
      }),
    );
    const path = `${url}/api/${collection}${isKept ? "?status=draft" : ""}`;
    const made = await requestJson(path, {
      headers: admin,
      body: { data: { ...values, ...others } },
    });
    return { id: String(at(made, "data.documentId")), values, isKept };
  }

  async function register(owner: string): Promise<Planted & { readonly token: string }> {
    number += 1;
    const username = marked(700_000 + number);
    number += 1;
    const address = markedEmail(700_000 + number);
    const body = { username, email: address, password: "Password1zq" };
    const made = await requestJson(`${url}/api/auth/local/register`, { body });
    const values = { username, email: address };
    const beginnings = { password: "$2" };
    return {
      id: String(at(made, "user.id")),
      owner,
      values,
      beginnings,
      token: String(made["jwt"]),
    };
  }

  async function signUp(owner: string): Promise<Planted> {
    const { token, ...planted } = await register(owner);
    tokens.set(owner, { authorization: `Bearer ${token}` });
    return planted;
  }
}

/** `filters[author][email]` for `author.email`. */
function bracketed(path: string): string {
  return path
    .split(".")
    .map((name) => `[${name}]`)
    .join("");
}

function pairs(
  path: string,
  operators: readonly string[],
  values: readonly [Scalar, Scalar],
): readonly QueryPair[] {
  const [one, other] = values.map((value) => encodeURIComponent(value));
  return ["", "&status=draft"].flatMap((more) =>
    operators.map((operator) => ({
      way: "filter",
      one: `filters${bracketed(path)}[${operator}]=${one}${more}`,
      other: `filters${bracketed(path)}[${operator}]=${other}${more}`,
    })),
  );
}

const dialect: Dialect = {
  asks: (path, value, other) => [
    ...pairs(
      path,
      ["$eq", "$eqi", "$ne", "$in", "$contains", "$startsWith", "$gt", "$lte"],
      [value, other],
    ),
    ...["", "&status=draft"].map((more) => ({
      way: "search",
      one: `_q=${encodeURIComponent(value)}${more}`,
      other: `_q=${encodeURIComponent(other)}${more}`,
    })),
  ],
  beginningAsks: (path, beginning, other) =>
    pairs(path, ["$startsWith", "$contains", "$gt"], [beginning, other]),
  order: (path) => ({ way: "sort", one: `sort=${path}:asc`, other: `sort=${path}:desc` }),
  shows: (fields, relations) => [
    "populate=*",
    "status=draft",
    "status=draft&populate=*",
    "pagination[limit]=100",
    "populate[createdBy]=true",
    ...fields.map((field, index) => `fields[${index}]=${field}`),
    ...relations.map(
      (relation) => `populate${bracketed(relation).replaceAll("][", "][populate][")}=true`,
    ),
  ],
  hostileQueries: (field) => [
    `filters[${field}][$nothing]=1`,
    `filters[${field}][$in]=`,
    `filters[${field}][$between]=1`,
    `filters[${field}][$null]=x`,
    `filters[${field}][$eq][$eq]=x`,
    "filters=x",
    "filters[$or]=x",
    "filters[$not]=x",
    "filters[__proto__][x]=1",
    "sort=%00",
    `sort[${field}]=x`,
    "sort[]=&sort[]=x",
    "populate[x][y]=z",
    "populate=x",
    "fields=x",
    "fields[x]=y",
    "pagination[page]=-1",
    "pagination[pageSize]=1e99",
    "pagination[limit]=x",
    "status=x",
    "locale=x",
    `filters[${field}]=%00`,
    `filters[${field}]=%`,
    `_q=${"x".repeat(6000)}`,
  ],
  body: (fields, { name }) => (name === "user" ? fields : { data: fields }),
  idOf: (json) => idFrom(at(json, "data.documentId") ?? at(json, "user.id")),
  updateMethod: "PUT",
};
