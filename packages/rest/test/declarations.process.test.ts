import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const folder = join(root, "node_modules/.cache/rest-declarations");

beforeAll(() => {
  // Copies, since the compiler names types by relative paths where a package is a link to a folder
  // outside of node_modules.
  for (const name of ["documents", "endpoint", "http", "kit", "middleware", "rest"]) {
    const copy = join(folder, "node_modules/@fetchwork", name);
    mkdirSync(copy, { recursive: true });
    for (const part of ["package.json", "src"]) {
      cpSync(join(root, "packages", name, part), join(copy, part), { recursive: true });
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a project exports without writing its types. */
const program = `
import { createClient } from "@fetchwork/rest/client";
import { openStore } from "@fetchwork/documents";
import {
  createApi, createAttemptLimiter, createAuthentication,
  createResourceController, createSessionTokens, defineResource, defineRoute, listParameter,
  resourceRoutes, type DocumentOf,
} from "@fetchwork/rest";
import {
  accountAuthRoutes, accounts, createUserController, defineUser, userRoutes,
} from "@fetchwork/rest/accounts";
import { z } from "zod";

export const user = defineUser();
export const worker = defineUser({ schema: z.object({ city: z.string().optional() }) });
export const author = defineResource({
  name: "author",
  path: "/authors",
  schema: z.object({ name: z.string() }),
  access: { list: "public" },
  fields: { createdAt: { read: "admin" } },
});
export const note = defineResource({
  name: "note",
  path: "/blog-notes",
  schema: z.object({
    text: z.string(),
    stars: z.number().optional(),
    author: z.string().optional(),
    origin: z.string().optional(),
  }),
  access: { list: "public", create: "user", update: ({ user }) => user?.role === "editor" },
  owner: "owner",
  filter: ["stars"],
  groups: ["stars"],
  fields: { stars: { write: "admin" }, origin: "nobody" },
  computed: { length: { schema: z.number(), value: ({ text }) => text.length } },
  relations: { author: { to: () => author } },
  hooks: {
    beforeList({ call }) {
      if (call.isMaster) return;
      if (call.user) return { text: "a" };
      return { or: [{ text: "a" }, { stars: { gt: 2 } }], not: { stars: 1 } };
    },
    beforeRemove({ current }) { if (current.text === "") throw new Error(); },
  },
  list: { parameters: { long: listParameter({
    schema: z.boolean(), where: () => ({}), description: "long ones",
  }) } },
});
export const noteController = createResourceController(note);
export const changed = { ...noteController, create: noteController.update };
export const pinNote = defineRoute({
  method: "POST",
  path: "/notes/:id/pin",
  operation: "pinNote",
  summary: "Pin a note",
  tag: "notes",
  access: "user",
  body: z.object({ until: z.string() }),
  response: z.object({ id: z.string() }),
  responses: { 200: { description: "pinned" } },
  handle: ({ body }) => Response.json(body),
});
export const noteRoutes = resourceRoutes(note, noteController);
export const routes = [...noteRoutes, ...resourceRoutes(author, createResourceController(author)), pinNote];
export type Note = DocumentOf<typeof note>;
export const long = listParameter({ schema: z.boolean(), where: () => ({}), description: "long" });
export const store = await openStore("sqlite::memory:", { collections: [note.collection] });
export const tokens = createSessionTokens({ secret: "s".repeat(32) });
export const limiter = createAttemptLimiter();
export const masterOnly = createAuthentication({ masterKey: "m".repeat(32) });
export const account = accounts({ user, signUp: "public", signIn: "public" });
export const opened = account.open(store, { title: "T", masterKey: "", jwtSecret: "" });
export const makeUsers = (parts: Parameters<typeof userRoutes>[0]) => userRoutes(parts);
export const makeUserController = (parts: Parameters<typeof userRoutes>[0]) => createUserController(parts);
export const makeAuth = (parts: Parameters<typeof userRoutes>[0]) => accountAuthRoutes(parts);
export const api = createApi({ title: "T", version: "1", store, routes });
export const byRoutes = createClient<typeof routes>({ baseUrl: "https://notes.example" });
export const byApi = createClient<typeof api>({ baseUrl: "https://notes.example" });
export const listNotes = () => byApi.blogNotes.list({ q: "x", populate: ["author"] });
export const pages = () => byApi.blogNotes.pages();
export const showNote = (id: string) => byApi.blogNotes.show(id);
export const groupNotes = () => byApi.blogNotes.groups({ by: ["stars"] });
export const changeNotes = () => byApi.blogNotes.bulk([{ op: "remove", id: "1" }]);
export const pin = (id: string) => byApi.pinNote({ params: { id }, body: { until: "" } });
`;

/** Compiles the program with the options of the repository and others. */
function compile(others: object, ...given: readonly string[]) {
  writeFileSync(join(folder, "program.mts"), program);
  const { compilerOptions } = JSON.parse(
    readFileSync(join(root, "tsconfig.base.json"), "utf8"),
  ) as { readonly compilerOptions: object };
  const options = { composite: false, declarationMap: false, sourceMap: false, types: ["node"] };
  const project = {
    compilerOptions: {
      ...compilerOptions,
      ...options,
      isolatedDeclarations: false,
      rootDir: ".",
      outDir: "out",
      ...others,
    },
    files: ["program.mts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const commands = [compiler, "-p", ".", ...given];
  return spawnSync(process.execPath, commands, { cwd: folder, encoding: "utf8" });
}

it("a project that emits declarations can name the types that it does not write", () => {
  const tsc = compile({}, "--emitDeclarationOnly");
  expect([tsc.status, tsc.stdout, tsc.stderr]).toEqual([0, "", ""]);
  expect(readFileSync(join(folder, "out/program.d.mts"), "utf8")).not.toMatch(/\bany\b/u);
});

it("a front end whose compiler lacks exactOptionalPropertyTypes compiles a project, too", () => {
  const tsc = compile({ exactOptionalPropertyTypes: false }, "--noEmit");
  // Sources of packages are declarations there, which it does not check.
  expect(tsc.stdout.split("\n").filter((line) => line.startsWith("program"))).toEqual([]);
});
