import { openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import {
  createApi,
  createResourceController,
  defineResource,
  resourceRoutes,
  type OnDelete,
  type Resource,
} from "@fetchwork/rest";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { user } from "../src/api/user/model.ts";
import { account } from "../src/services/accounts.ts";
import { jwtSecret, masterKey } from "./api-client.ts";

/** What `fetchwork add loan 'reader:ref(user)?'` makes, with what a deletion does. */
function loanWith(onDelete: OnDelete | undefined): Resource {
  return defineResource({
    name: "loan",
    path: "/loans",
    schema: z.object({ title: z.string(), reader: z.string().nullable().optional() }),
    access: { list: "public", show: "public", create: "user" },
    owner: "author",
    relations: {
      reader: { to: (): Resource => user, onDelete },
      writer: { to: (): Resource => user, field: "author", onDelete: "cascade" },
    },
  });
}

async function open(onDelete?: OnDelete) {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const loan = loanWith(onDelete);
  const accounts = account.open(store, { masterKey, jwtSecret, title: "T" });
  const { authentication } = accounts;
  const routes = [...accounts.routes, ...resourceRoutes(loan, createResourceController(loan))];
  const { handler, openApi } = createApi({
    title: "T",
    version: "1",
    routes,
    store,
    authentication,
  });
  const tokens = new Map<string, string>();
  for (const id of ["ada", "bob", "root"]) {
    const role = id === "root" ? ("admin" as const) : ("user" as const);
    const fields = { email: `${id}@example.com`, name: id, picture: "p", role };
    const stored = await store
      .collection(user.collection)
      .insert({ ...fields, passwordHash: "", sessionVersion: 1 }, { id });
    tokens.set(id, await authentication.tokens.issue(stored));
  }
  await store.collection(loan.collection).insert({ title: "t", reader: "ada" }, { id: "one" });
  const send = async (who: string, method: string, path: string) => {
    const token = tokens.get(who);
    const request = new Request(new URL(path, "http://localhost"), {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const response = await handler(request, createContext(request));
    const text = await response.text();
    return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
  };
  return { loans: store.collection(loan.collection), openApi, send, store };
}

describe("the deletion of a user", () => {
  it("is refused with 409 while a relation restricts it, and changes nothing", async () => {
    const { loans, openApi, send } = await open();
    expect((await send("root", "DELETE", "/users/ada")).status).toBe(409);
    expect((await send("", "GET", "/loans/one")).json).toMatchObject({ reader: "ada" });
    expect((await send("root", "GET", "/users/ada")).status).toBe(200);
    expect(openApi.paths["/users/{id}"]?.["delete"]).toMatchObject({
      responses: { 409: { description: "Other documents refer to it" } },
    });
    await loans.remove("one");
    expect((await send("root", "DELETE", "/users/ada")).status).toBe(204);
  });

  it("empties a relation that says so", async () => {
    const { send } = await open("nullify");
    expect((await send("root", "DELETE", "/users/ada")).status).toBe(204);
    expect((await send("", "GET", "/loans/one")).json.reader).toBeNull();
  });

  it("deletes what belongs to the user where a relation says so, of its owner too", async () => {
    const { loans, send } = await open("cascade");
    await loans.insert({ title: "own", author: "ada" }, { id: "own" });
    await loans.insert({ title: "other", author: "bob" }, { id: "other" });
    expect((await send("root", "DELETE", "/users/ada")).status).toBe(204);
    expect((await loans.find()).map(({ id }) => id)).toEqual(["other"]);
  });
});

describe("populate of a relation to a user", () => {
  const open_ = ["id", "name", "picture"];
  const all = [...open_, "email", "role", "createdAt"];

  it.each([
    ["bob", open_],
    ["ada", all],
    ["root", all],
  ])("shows to %s the fields that GET /users/:id shows", async (who, fields) => {
    const { send } = await open();
    expect(Object.keys((await send(who, "GET", "/users/ada")).json)).toEqual(fields);
    const one = await send(who, "GET", "/loans/one?populate=reader");
    expect(Object.keys(one.json.reader)).toEqual(fields);
    const [listed] = (await send(who, "GET", "/loans?populate=reader,writer")).json;
    expect(Object.keys(listed.reader)).toEqual(fields);
  });

  it("shows the bare identifier to nobody in particular", async () => {
    const { send } = await open();
    expect((await send("", "GET", "/loans/one?populate=reader")).json.reader).toBe("ada");
  });
});
