import { empty, mockTransport } from "@fetchwork/http";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { accounts } from "../../src/accounts/accounts.ts";
import { providerSignIn } from "../../src/accounts/providers/provider-sign-in.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { type AuthClient, createClient } from "../../src/client/index.ts";
import { createApi } from "../../src/http/api.ts";
import { defineRoute } from "../../src/plan/route.ts";
import { masterKey, memoryStore } from "../api-client.ts";

const kind = z.enum(["a", "b"]).default("a");
const user = defineUser({
  schema: z.object({ kind, city: z.string() }),
  fields: { kind: { write: "admin" } },
});
const account = accounts({ user, signUp: "public", signIn: "public" });
const ping = defineRoute({
  method: "GET",
  path: "/ping",
  operation: "ping",
  summary: "Ping",
  tag: "ping",
  access: "public",
  responses: { 204: { description: "Here" } },
  handle: () => empty(),
});
const person = { email: "ada@example.com", password: "a password", city: "Bonn" };

async function openApi() {
  const store = await memoryStore();
  const jwtSecret = "j".repeat(32);
  const opened = account.open(store, { title: "Test", masterKey, jwtSecret });
  const origin = "http://localhost";
  const providers = providerSignIn(opened, { providers: [], origin, secret: jwtSecret });
  const { authentication } = opened;
  const routes = [...opened.routes, ...providers.routes, ping];
  return createApi({ title: "Test", version: "1.0.0", store, authentication, routes });
}

type TestApi = Awaited<ReturnType<typeof openApi>>;
type Client = ReturnType<typeof createClient<TestApi>> & { readonly auth: AuthClient<TestApi> };

async function openClients() {
  const api = await openApi();
  const base = {
    baseUrl: "http://localhost",
    openApi: api.openApi,
    transport: mockTransport(api.handler),
  };
  const client = createClient<typeof api>({ ...base, auth: true });
  const admin = createClient<typeof api>({ ...base, auth: true });
  const master = createClient<typeof api>({ ...base, token: masterKey });
  const email = "admin@example.com";
  await master.users.create({ ...person, email, role: "admin" });
  await admin.auth.signIn({ email, password: person.password });
  return { admin, client };
}

describe("the typed client of users with own fields", () => {
  it("signs up with them, and shows and changes them", async () => {
    const { admin, client } = await openClients();
    const { data: created } = await client.auth.signUp(person);
    expect([created?.kind, created?.city]).toEqual(["a", "Bonn"]);
    const id = created?.id ?? "";
    const { data: session } = await client.auth.signIn(person);
    expect([session.user.kind, session.user.name]).toEqual(["a", "ada"]);
    await client.users.update(id, { city: "Ulm" });
    await admin.users.update(id, { kind: "b" });
    expect((await admin.users.show(id)).data.kind).toBe("b");
    const { data: me } = await client.auth.me();
    expect([me.kind, me.city, me.email]).toEqual(["b", "Ulm", person.email]);
    await expect(client.auth.signUp({ ...person, kind: "b" })).rejects.toMatchObject({
      status: 401,
    });
  });

  it("has their types, which may be hidden, next to those of every user", () => {
    const calls = ({ auth, users }: Client) => ({
      me: auth.me(),
      shown: users.show("1"),
      role: auth.usePasswordReset({ token: "t", password: "another" }),
    });
    type Data<Name extends keyof ReturnType<typeof calls>> = Awaited<
      ReturnType<typeof calls>[Name]
    >["data"];
    expectTypeOf<Data<"me">["kind"]>().toEqualTypeOf<"a" | "b" | undefined>();
    expectTypeOf<Data<"me">["email"]>().toEqualTypeOf<string>();
    expectTypeOf<Data<"role">["city"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Data<"shown">["kind"]>().toEqualTypeOf<"a" | "b" | undefined>();
    expectTypeOf<Data<"shown">["email"]>().toEqualTypeOf<string | undefined>();
  });

  it("refuses fields that users do not have, and values of other types", () => {
    const wrong = ({ auth, users }: Client): unknown[] => [
      // @ts-expect-error -- a field without a default is missing
      auth.signUp({ email: "a@b.example", password: "a password" }),
      // @ts-expect-error -- no such value
      auth.signUp({ ...person, kind: "c" }),
      // @ts-expect-error -- no such field
      auth.signUp({ ...person, town: "Bonn" }),
      // @ts-expect-error -- no such value
      users.update("1", { kind: "c" }),
      // @ts-expect-error -- no such field
      users.update("1", { town: "Bonn" }),
      // @ts-expect-error -- no such call
      auth.ping(),
    ];
    expect(wrong).toBeTypeOf("function");
  });

  it("has the fields of every user where the API says nothing of users", () => {
    const calls = (auth: AuthClient) => [auth.signUp(person).catch(String), auth.me()] as const;
    type Me = Awaited<ReturnType<typeof calls>[1]>["data"];
    expectTypeOf<Me["email"]>().toEqualTypeOf<string>();
    const wrong = (auth: AuthClient<readonly []>): unknown[] => [
      // @ts-expect-error -- the password is missing
      auth.signUp({ email: "a@b.example" }),
      // @ts-expect-error -- no such field
      auth.me().then(({ data }) => data.kind),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});
