// The servers, and how each is asked for the same.
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { requestText } from "../harness/load.mjs";
import { article, total } from "./sample-articles.mjs";

const here = import.meta.dirname;
const email = "bench@example.com";
const password = "correct horse";

/** How express and nest are asked; the others say what differs. */
const usual = {
  databases: ["sqlite", "postgres"],
  nodeOptions: [],
  list: "/articles?page=2&limit=30",
  search: (word) => `/articles?q=${word}`,
  show: (id) => `/articles/${id}`,
  create: (fields) => json("/articles", fields),
  signIn: () => json("/auth", { email, password }),
  rows: (answer) => answer,
  row: (answer) => answer,
  token: (answer) => answer.token,
  refuses: true,
  creations: 100,
};

export const servers = {
  fetchwork: {
    ...usual,
    script: path.join(here, "../../examples/blog/src/index.ts"),
    nodeOptions: ["--conditions=@fetchwork/source"],
    environment: ({ masterKey }) => ({
      IP: "127.0.0.1",
      MASTER_KEY: masterKey,
      // The peers log nothing and limit nobody.
      LOG: "off",
      SIGN_IN_LIMIT: "0",
    }),
    async addUser(origin, { masterKey }) {
      const body = new URLSearchParams({ email, password, access_token: masterKey });
      await fetch(`${origin}/users`, { method: "POST", body });
    },
    signIn: ({ masterKey }) =>
      json(
        "/auth",
        { access_token: masterKey },
        { Authorization: `Basic ${btoa(`${email}:${password}`)}` },
      ),
  },
  express: { ...usual, script: peer("express") },
  nest: { ...usual, script: peer("nest") },
  feathers: {
    ...usual,
    script: peer("feathers"),
    list: "/articles?$limit=30&$skip=30&$sort[createdAt]=-1&$sort[id]=-1",
    search: (word) => `/articles?q=${word}&$sort[createdAt]=-1&$sort[id]=-1`,
    signIn: () => json("/authentication", { strategy: "local", email, password }),
    rows: ({ data }) => data,
    token: ({ accessToken }) => accessToken,
  },
  strapi: {
    ...usual,
    script: path.join(here, "strapi/start.mjs"),
    isMissing: () => !existsSync(path.join(here, "strapi/node_modules/@strapi/strapi")),
    environment: ({ folder, masterKey }) => ({
      FOLDER: folder,
      MASTER_KEY: masterKey,
      EMAIL: email,
      PASSWORD: password,
    }),
    list: "/api/articles?pagination[page]=2&pagination[pageSize]=30&sort=createdAt:desc",
    search: (word) => `/api/articles?_q=${word}&pagination[pageSize]=30&sort=createdAt:desc`,
    show: (id) => `/api/articles/${id}`,
    create: (data) => json("/api/articles", { data }),
    signIn: () => json("/api/auth/local", { identifier: email, password }),
    signInStatus: 200,
    rows: ({ data }) => data,
    row: ({ data }) => data,
    idOf: ({ documentId }) => documentId,
    token: ({ jwt }) => jwt,
    creations: 30,
  },
  "json-server": {
    ...usual,
    databases: ["sqlite"],
    script: peer("json-server"),
    // It has no database: one file that it writes whole for each change.
    environment({ folder }) {
      const database = path.join(folder, "db.json");
      const articles = Array.from({ length: total }, (_, n) => ({ id: n + 1, ...article(n) }));
      writeFileSync(database, JSON.stringify({ articles }));
      return { DATABASE: database };
    },
    list: "/articles?_page=2&_limit=30&_sort=id&_order=desc",
    search: (word) => `/articles?q=${word}&_limit=30`,
    isSeeded: true,
    signIn: undefined,
    refuses: false,
    creations: 30,
  },
};

export const userPassword = password;

function peer(name) {
  return path.join(here, "peers", `${name}.mjs`);
}

/** What is sent, to be written over a socket or with `fetch`. */
function json(target, fields, headers = {}) {
  const body = JSON.stringify(fields);
  const all = { "Content-Type": "application/json", ...headers };
  return {
    text: (more = {}) => requestText("POST", target, { headers: { ...all, ...more }, body }),
    fetch: (origin, more = {}) =>
      fetch(`${origin}${target}`, { method: "POST", headers: { ...all, ...more }, body }),
  };
}
