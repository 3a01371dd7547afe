import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({
  name: z.string(),
  role: z.enum(["user", "admin"]).default("user"),
  views: z.int().default(0),
  pin: z.string().min(4).optional(),
  token: z
    .string()
    .refine((value) => value !== "weak", { error: (issue) => `${String(issue.input)} is weak` })
    .optional(),
});

const member = defineResource({
  name: "member",
  path: "/members",
  schema,
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "user",
  fields: {
    role: { write: "nobody" },
    views: { write: "nobody" },
    pin: { read: "nobody" },
    token: { read: "nobody" },
  },
  computed: {
    title: { schema: z.string(), value: ({ name, role }) => `${role} ${name}` },
    hasPin: { schema: z.boolean(), value: ({ pin }) => pin !== undefined },
  },
});

const forged = {
  id: "forged",
  _id: "forged",
  user: "bob",
  owner: "bob",
  role: "admin",
  views: 9,
  version: 99,
  createdAt: "2000-01-01T00:00:00.000Z",
  updatedAt: "2000-01-01T00:00:00.000Z",
  deletedAt: "2000-01-01T00:00:00.000Z",
  title: "forged",
  hasPin: true,
  __proto__: { admin: true },
};

describe("fields that clients do not set", () => {
  it.each(["POST", "PUT", "PATCH"])(
    "keep their values whatever is sent with %s",
    async (method) => {
      const { as, store } = await openResource(member);
      const documents = store.collection(member.collection);
      let path = "/members";
      if (method !== "POST")
        path = `/members/${(await as("ann", "POST", path, { name: "a" })).json.id}`;
      const answer = await as("ann", method, path, { name: "b", ...forged });
      expect(answer.status).toBeLessThan(300);
      const [stored] = await documents.find();
      expect(stored).toMatchObject({ name: "b", user: "ann", role: "user", views: 0 });
      expect(stored?.version).toBe(method === "POST" ? 1 : 2);
      expect(stored?.createdAt).not.toMatch(/^2000/);
      expect(Object.keys(stored ?? {}).toSorted()).toEqual(
        ["createdAt", "id", "name", "role", "updatedAt", "user", "version", "views"].toSorted(),
      );
    },
  );

  it("are refused by a schema that takes no other fields, but for those that are read-only", async () => {
    const strict = defineResource({
      name: "member",
      path: "/members",
      schema: z.strictObject({ name: z.string(), role: z.string().default("user") }),
      access: { create: "public" },
      fields: { role: { write: "nobody" } },
    });
    const { as } = await openResource(strict);
    expect((await as("", "POST", "/members", { name: "a", id: "b" })).status).toBe(400);
    const { json } = await as("", "POST", "/members", { name: "a", role: "admin" });
    expect(json).toMatchObject({ role: "user" });
  });

  it("stay as the program has set them", async () => {
    const { as, store } = await openResource(member);
    const { id } = (await as("ann", "POST", "/members", { name: "a" })).json;
    await store.collection(member.collection).update(id, { views: 7, role: "admin" });
    const { json } = await as("ann", "PUT", `/members/${id}`, { name: "b", views: 0 });
    expect(json).toMatchObject({ name: "b", views: 7, role: "admin" });
  });

  it("are not in the reference of what is sent", () => {
    const properties = member.input["properties"];
    expect(Object.keys(properties as object)).toEqual(["name", "pin", "token"]);
    expect(properties).toMatchObject({ pin: { writeOnly: true }, token: { writeOnly: true } });
  });
});

describe("secret fields", () => {
  it("are in no reference by the names inside of them", () => {
    const answer = z.object({ maiden: z.string() }).meta({ id: "Answer" });
    const answers = z.object({ first: answer }).meta({ id: "Answers" });
    const street = z.object({ street: z.string() }).meta({ id: "Street" });
    const { input } = defineResource({
      name: "safe",
      path: "/safes",
      schema: z.object({ answers: answers.optional(), at: street.optional() }),
      access: {},
      fields: { answers: "nobody" },
    });
    expect(Object.keys(input["$defs"] ?? {})).toEqual(["Street"]);
  });

  it("are stored and never shown", async () => {
    const { as, store } = await openResource(member);
    const created = await as("ann", "POST", "/members", {
      name: "a",
      pin: "pin-1",
      token: "t0k3n",
    });
    const path = `/members/${created.json.id}`;
    const answers = [
      created,
      await as("root", "GET", path),
      await as("ann", "PUT", path, { name: "b", pin: "pin-2" }),
      await as("ann", "PATCH", path, { token: "t0k4n" }),
      await as("", "GET", "/members"),
    ];
    expect(JSON.stringify(answers.map(({ json }) => json))).not.toMatch(/pin-|t0k|"pin"|"token"/);
    expect(answers[1]?.json).toMatchObject({ hasPin: true });
    const stored = await store.collection(member.collection).get(created.json.id);
    expect(stored).toMatchObject({ name: "b", pin: "pin-2", token: "t0k4n" });
  });

  it.each([{ pin: "xyz" }, { pin: 7_351_735_173 }, { token: "weak" }, { token: ["xyz"] }])(
    "are not repeated in the refusal of %j",
    async (sent) => {
      const { as } = await openResource(member);
      const { id } = (await as("ann", "POST", "/members", { name: "a" })).json;
      for (const [method, path] of [
        ["POST", "/members"],
        ["PUT", `/members/${id}`],
      ] as const) {
        const refused = await as("ann", method, path, { name: "a", ...sent });
        expect(refused.json).toMatchObject({ status: 400, param: Object.keys(sent)[0] });
        expect(JSON.stringify(refused.json)).not.toMatch(/xyz|7351735173|weak/);
      }
    },
  );

  it("are not in the reference of what is shown", () => {
    expect(member.output["properties"]).not.toHaveProperty("pin");
    expect(member.output["properties"]).not.toHaveProperty("token");
  });

  it.each([
    ["search", ["pin"]],
    ["sort", ["pin"]],
    ["filter", ["pin"]],
    ["unique", ["pin"]],
    ["unique", [["name", "pin"]]],
    ["geo", "pin"],
  ])("cannot be in %s, where they would be told: %j", (option, value) => {
    const options = {
      name: "member",
      path: "/members",
      schema,
      access: {},
      fields: { pin: { read: "nobody" } },
    } as const;
    expect(() => defineResource({ ...options, [option]: value })).toThrow(RestError);
  });
});

describe("computed fields", () => {
  it("are shown, selected, and neither stored nor accepted", async () => {
    const { as, store } = await openResource(member);
    const { id } = (await as("ann", "POST", "/members", { name: "a", title: "sent" })).json;
    expect((await as("", "GET", `/members/${id}`)).json).toMatchObject({ title: "user a" });
    expect((await as("", "GET", "/members?fields=title,-id")).json).toEqual([{ title: "user a" }]);
    expect(await store.collection(member.collection).get(id)).not.toHaveProperty("title");
  });

  it("cannot be sorted or filtered by", async () => {
    const { as } = await openResource(member);
    expect((await as("", "GET", "/members?sort=title")).status).toBe(400);
    expect((await as("", "GET", "/members?title=a")).status).toBe(400);
  });

  it("are in the reference with their schema", () => {
    expect(member.output["properties"]).toMatchObject({ hasPin: { type: "boolean" } });
  });

  it.each(["name", "id", "version", "access_token"])("are not called %s", (field) => {
    const computed = { [field]: { schema: z.string(), value: () => "" } };
    const options = { name: "member", path: "/members", schema, access: {}, computed };
    expect(() => defineResource(options)).toThrow(RestError);
  });
});

describe("a schema that takes any field", () => {
  const loose = defineResource({
    name: "thing",
    path: "/things",
    schema: z.looseObject({ name: z.string() }),
    access: { create: "user", update: "owner", show: "owner" },
    owner: "writer",
    softDelete: true,
    computed: { title: { schema: z.string(), value: ({ name }) => `the ${name}` } },
  });
  const sent = { ...forged, writer: "bob", more: 1 };

  it.each(["POST", "PUT", "PATCH"])(
    "takes neither owner nor what the store keeps with %s",
    async (method) => {
      const { as, store } = await openResource(loose);
      let path = "/things";
      if (method !== "POST") {
        path = `/things/${(await as("ann", "POST", path, { name: "a" })).json.id}`;
      }
      const answer = await as("ann", method, path, { name: "b", ...sent });
      expect(answer.status).toBeLessThan(300);
      expect(answer.json).toMatchObject({ name: "b", title: "the b" });
      const [stored] = await store.collection(loose.collection).find();
      expect(stored).toMatchObject({ name: "b", writer: "ann", more: 1 });
      expect(stored).not.toMatchObject({ id: "forged" });
      expect(stored).not.toHaveProperty("deletedAt");
      expect(stored).not.toHaveProperty("title");
      expect(stored?.version).toBe(method === "POST" ? 1 : 2);
      expect(stored?.createdAt).not.toBe(forged.createdAt);
    },
  );
});
