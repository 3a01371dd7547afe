import { join } from "node:path";
import { freePort } from "../../../test/free-port.ts";
import { startProgram } from "../../test-runtimes/start-program.ts";
import { root } from "../../workspace-packages.ts";
import type { Api, Collection, Dialect, Peer, Planted } from "../api.ts";
import { at, readJson, requestJson } from "./request-json.ts";
import { idFrom, isAdmin, marked, markedEmail } from "./values.ts";

const masterKey = "verify-master-key-verify-master-key";

/** The blog of this repository, for comparison. */
export const fetchworkBlog: Peer = {
  name: "fetchwork-blog",
  async start(folder) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = startProgram(process.execPath, {
      args: ["--conditions=@fetchwork/source", join(root, "examples/blog/src/index.ts")],
      cwd: folder,
      limit: 60 * 60_000,
      environment: {
        MASTER_KEY: masterKey,
        JWT_SECRET: "verify-jwt-secret-verify-jwt-secret",
        PORT: String(port),
        IP: "127.0.0.1",
        PUBLIC_URL: url,
        DATABASE_URL: "sqlite::memory:",
        SIGN_IN_LIMIT: "0",
        SIGN_IN_FAILURES: "0",
      },
    });
    try {
      await Promise.race([
        server.line(/listen|http:/i),
        server.ended.then(({ output }) => Promise.reject(new Error(output))),
      ]);
      return {
        api: await describe(url),
        version: "examples/blog of this repository",
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
  const master = { authorization: `Bearer ${masterKey}` };
  const tokens = new Map<string, Readonly<Record<string, string>>>();
  let number = 1000;

  const users = [await signUp("ada"), await signUp("bob"), await signUp("admin")];
  const articles = [await write("ada"), await write("bob")];
  const collections: readonly Collection[] = [
    {
      name: "article",
      path: "/articles",
      documents: articles,
      relations: { author: "user" },
      attacks: {
        title: marked,
        content: marked,
        author: () => users[2]?.id,
        id: marked,
        createdAt: () => "2000-01-01T00:00:00.000Z",
      },
      sample: (one) => ({ title: marked(one), content: marked(one + 1) }),
      mayRead: () => true,
      mayWrite: (kind, field) => ["title", "content"].includes(field) && mayChange(kind),
      mayCreate: (caller) => caller !== "anonymous",
      mayRemove: mayChange,
    },
    {
      name: "user",
      path: "/users",
      otherPaths: ["/users/me"],
      documents: users.slice(0, 2),
      relations: {},
      attacks: {
        name: marked,
        picture: (one) => `https://example.com/${marked(one)}`,
        email: markedEmail,
        password: marked,
        role: () => "admin",
        verified: () => true,
      },
      sample: (one) => ({
        email: markedEmail(one),
        password: marked(one),
        name: marked(one + 1),
      }),
      mayRead: (kind, field) =>
        field === "name" || (field === "email" && (kind === "owner" || isAdmin(kind))),
      mayWrite: (kind, field) =>
        isAdmin(kind) || (kind === "owner" && ["name", "picture"].includes(field)),
      mayCreate: isAdmin,
      mayRemove: mayChange,
      async holds(id, field, value) {
        if (field !== "password") return undefined;
        const email = String(
          at(await readJson(`${url}/users/${id}`, tokens.get("admin") ?? {}), "email"),
        );
        return signIn(email, String(value)).then(
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
      ...["ada", "bob", "admin"].map((name) => ({ name, headers: tokens.get(name) ?? {} })),
    ],
    collections,
    dialect,
    observe: ({ path }, id) => readJson(`${url}${path}/${id}`, tokens.get("admin") ?? {}),
    plant: ({ name }, owner) => (name === "user" ? register(owner) : write(owner)),
  };

  async function signIn(email: string, password: string): Promise<string> {
    const basic = Buffer.from(`${email}:${password}`).toString("base64");
    const body = { access_token: masterKey };
    const signed = await requestJson(`${url}/auth`, {
      headers: { authorization: `Basic ${basic}` },
      body,
    });
    return String(signed["token"]);
  }

  async function register(
    owner: string,
  ): Promise<Planted & { readonly email: string; readonly password: string }> {
    number += 3;
    const email = markedEmail(700_000 + number);
    const name = marked(700_001 + number);
    const password = marked(700_002 + number);
    const role = owner === "admin" ? "admin" : "user";
    const made = await requestJson(`${url}/users`, {
      headers: master,
      body: { email, name, password, role },
    });
    const id = String(at(made, "user.id") ?? made["id"]);
    return {
      id,
      owner,
      values: { email, name },
      beginnings: { passwordHash: "$" },
      email,
      password,
    };
  }

  async function signUp(owner: string): Promise<Planted> {
    const { email, password, ...planted } = await register(owner);
    tokens.set(owner, { authorization: `Bearer ${await signIn(email, password)}` });
    return planted;
  }

  async function write(owner: string): Promise<Planted> {
    number += 2;
    const values = { title: marked(700_000 + number), content: marked(700_001 + number) };
    const made = await requestJson(`${url}/articles`, {
      headers: tokens.get(owner) ?? {},
      body: values,
    });
    return { id: String(made["id"]), owner, values };
  }
}

const text = encodeURIComponent;

const dialect: Dialect = {
  asks: (path, value, other) => [
    ...["", "[eq]", "[ne]", "[in]", "[gt]", "[lte]", "[prefix]", "[contains]"].map((operator) => ({
      way: "filter",
      one: `${path}${operator}=${text(value)}`,
      other: `${path}${operator}=${text(other)}`,
    })),
    {
      way: "filter",
      one: `where=${text(JSON.stringify({ [path]: value }))}`,
      other: `where=${text(JSON.stringify({ [path]: other }))}`,
    },
    { way: "search", one: `q=${text(value)}`, other: `q=${text(other)}` },
  ],
  beginningAsks: (path, beginning, other) =>
    ["[prefix]", "[gt]"].map((operator) => ({
      way: "filter",
      one: `${path}${operator}=${text(beginning)}`,
      other: `${path}${operator}=${text(other)}`,
    })),
  order: (path) => ({ way: "sort", one: `sort=${path}`, other: `sort=-${path}` }),
  shows: (fields, relations) => [
    ...fields.map((field) => `fields=${field}`),
    ...relations.map((relation) => `populate=${relation}`),
    "limit=100",
  ],
  hostileQueries: (field) => [
    `${field}[nothing]=1`,
    `${field}=1&${field}[x]=2`,
    "where=x",
    `where={"${field}":{"x":{}}}`,
    "limit=-1",
    "limit=x",
    "page=1e99",
    "cursor=x",
    "sort=x",
    "fields=%00",
    "populate=x.y",
    `${field}=%`,
    "q=%00",
    "__proto__[role]=admin",
    `q=${"x".repeat(6000)}`,
  ],
  body: (fields) => fields,
  idOf: (json) => idFrom(at(json, "user.id") ?? at(json, "id")),
  updateMethod: "PATCH",
};

function mayChange(kind: string): boolean {
  return kind === "owner" || isAdmin(kind);
}
