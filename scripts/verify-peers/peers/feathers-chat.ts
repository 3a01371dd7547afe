import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../test/free-port.ts";
import type { Api, Collection, Dialect, Peer, Planted } from "../api.ts";
import { at, readJson, requestJson } from "./request-json.ts";
import { runCommand, startServer } from "./run-command.ts";
import { marked, markedEmail } from "./values.ts";

/** The chat of the guide of Feathers: users who sign in write messages that all users read. */
export const feathersChat: Peer = {
  name: "feathers-chat",
  async start(folder) {
    await runCommand(folder, "npm", "pack", "--silent", "feathers-chat@4.0.0");
    await runCommand(folder, "tar", "xzf", "feathers-chat-4.0.0.tgz", "--strip-components=1");
    await runCommand(folder, "npm", "install", "--omit=dev", "--no-audit", "--no-fund");
    const port = await freePort();
    const server = startServer(folder, ["npm", "start"], { NODE_CONFIG: JSON.stringify({ port }) });
    try {
      await server.line(/started on/);
      const manifest = join(folder, "node_modules/@feathersjs/feathers/package.json");
      const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
      return {
        api: await describe(`http://localhost:${port}`),
        version: `feathers-chat 4.0.0 on Feathers ${version}`,
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
  const tokens = new Map<string, Readonly<Record<string, string>>>();
  let number = 1000;

  const users = [await signUp("ada"), await signUp("bob"), await signUp("eve")];
  const eve = users[2]?.id;
  const messages = [await write("ada"), await write("bob")];
  const collections: readonly Collection[] = [
    {
      name: "user",
      path: "/users",
      documents: users.slice(0, 2),
      relations: {},
      attacks: {
        email: markedEmail,
        password: marked,
        githubId: marked,
        avatar: (one) => `https://example.com/${marked(one)}`,
        role: () => "admin",
        _id: marked,
      },
      sample: (one) => ({ email: markedEmail(one), password: marked(one) }),
      mayRead: (kind, field) => isUser(kind) && field !== "password",
      mayWrite: (kind, field) => kind === "owner" && !["role", "_id"].includes(field),
      mayCreate: () => true,
      mayRemove: (kind) => kind === "owner",
      async holds(id, field, value) {
        if (field !== "password") return undefined;
        const email = at(await readJson(`${url}/users/${id}`, tokens.get("ada") ?? {}), "email");
        return signIn(String(email), String(value)).then(
          () => true,
          () => false,
        );
      },
    },
    {
      name: "message",
      path: "/messages",
      documents: messages,
      relations: { user: "user" },
      attacks: {
        text: marked,
        userId: () => eve,
        createdAt: (one) => 7_000_000 + one,
        _id: marked,
      },
      sample: (one) => ({ text: marked(one) }),
      mayRead: isUser,
      mayWrite: (kind, field) => kind === "owner" && field === "text",
      mayCreate: isUser,
      mayRemove: (kind) => kind === "owner",
    },
  ];
  return {
    url,
    callers: [
      { name: "anonymous", headers: {} },
      ...["ada", "bob"].map((name) => ({ name, headers: tokens.get(name) ?? {} })),
    ],
    collections,
    dialect,
    observe: ({ path }, id) => readJson(`${url}${path}/${id}`, tokens.get("ada") ?? {}),
    plant: ({ name }, owner) => (name === "message" ? write(owner) : register(owner)),
  };

  async function signIn(email: string, password: string): Promise<unknown> {
    const body = { strategy: "local", email, password };
    return at(await requestJson(`${url}/authentication`, { body }), "accessToken");
  }

  async function register(
    owner: string,
  ): Promise<Planted & { readonly email: string; readonly password: string }> {
    number += 3;
    const email = markedEmail(700_000 + number);
    const githubId = marked(700_001 + number);
    const password = marked(700_002 + number);
    const created = await requestJson(`${url}/users`, { body: { email, password, githubId } });
    return {
      id: String(created["_id"]),
      owner,
      values: { email, githubId },
      beginnings: { password: "$2" },
      email,
      password,
    };
  }

  async function signUp(owner: string): Promise<Planted> {
    const { email, password, ...planted } = await register(owner);
    tokens.set(owner, { authorization: `Bearer ${String(await signIn(email, password))}` });
    return planted;
  }

  async function write(owner: string): Promise<Planted> {
    number += 1;
    const text = marked(700_000 + number);
    const created = await requestJson(`${url}/messages`, {
      body: { text },
      headers: tokens.get(owner) ?? {},
    });
    return {
      id: String(created["_id"]),
      owner,
      values: { text, createdAt: Number(created["createdAt"]) },
    };
  }
}

const text = encodeURIComponent;

const dialect: Dialect = {
  asks: (path, value, other) => {
    const pair = (query: (value: string) => string) => ({
      way: "filter",
      one: query(text(value)),
      other: query(text(other)),
    });
    return [
      pair((one) => `${path}=${one}`),
      pair((one) => `${path}[$in][]=${one}`),
      pair((one) => `${path}[$ne]=${one}`),
      pair((one) => `${path}[$gt]=${one}`),
      pair((one) => `${path}[$regex]=${one}`),
      pair((one) => `$or[0][${path}]=${one}`),
    ];
  },
  beginningAsks: (path, beginning, other) =>
    ["$gt", "$lt", "$regex"].map((operator) => ({
      way: "filter",
      one: `${path}[${operator}]=${text(beginning)}`,
      other: `${path}[${operator}]=${text(other)}`,
    })),
  order: (path) => ({ way: "sort", one: `$sort[${path}]=1`, other: `$sort[${path}]=-1` }),
  shows: (fields, relations) => [
    ...[...fields, ...relations].map((field) => `$select[]=${field}`),
    "$limit=1000",
    "$populate=user",
  ],
  hostileQueries: (field) => [
    `${field}[$nothing]=1`,
    `${field}[]=1&${field}[x]=2`,
    "$or=x",
    "$or[0]=x",
    "$limit=-1",
    "$limit=x",
    "$skip=-1",
    "$skip=1e99",
    "$sort=x",
    `$sort[${field}]=x`,
    "$select=x",
    "$select[x]=1",
    `${field}=%00`,
    `${field}=%`,
    "__proto__[role]=admin",
    `${field}=${"x".repeat(6000)}`,
  ],
  body: (fields) => fields,
  idOf: (json) => (typeof at(json, "_id") === "string" ? String(at(json, "_id")) : undefined),
  updateMethod: "PATCH",
};

function isUser(kind: string): boolean {
  return kind !== "anonymous";
}
