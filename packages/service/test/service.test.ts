import { resourceRoutes, defineResource, defineRoute, Problem } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { json, type Middleware } from "@fetchwork/http";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineService,
  serverSettings,
  webhookSettings,
} from "../src/index.ts";
import { testService } from "../src/testing/test-service.ts";

const config = defineConfig({
  ...serverSettings,
  ...accountSettings,
  ...webhookSettings,
  LIMIT: z.coerce.number().default(3),
});
const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1) }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  changes: "documents",
  hooks: {
    async beforeCreate({ call, transaction }) {
      const count = await transaction.collection(note.collection).count();
      if (count >= config.of(call).LIMIT) throw new Problem(409);
    },
  },
});
const tidy = backgroundJob<{ readonly text: string }>({
  name: "tidy",
  async run({ text }, { store }) {
    await store.collection(note.collection).removeMany({ where: { text } });
  },
});
const queueTidying = defineRoute({
  method: "POST",
  path: "/tidyings",
  operation: "tidyNotes",
  summary: "Remove notes with a text",
  tag: "notes",
  access: "user",
  body: z.object({ text: z.string() }),
  response: z.object({ limit: z.number() }),
  responses: { 202: { description: "They will be removed" } },
  async handle(call) {
    await call.jobs.add(tidy, { text: call.body.text });
    await call.sender.send({ name: "tidied", payload: call.body });
    return json({ limit: config.of(call).LIMIT }, { status: 202 });
  },
});
const app = defineService({
  name: "notes",
  config,
  accounts: accounts({ user: defineUser({ changes: "documents" }) }),
  resources: [resourceRoutes(note)],
  routes: [queueTidying],
  jobs: [tidy],
  webhooks: { events: ["tidied"] },
});

it("only the author changes a note", async () => {
  const service = await testService(app);
  const [ada, bob] = [await service.as("user"), await service.as("user")];
  const { data } = await ada.notes.create({ text: "One" });
  await expect(bob.notes.update(data.id, { text: "Two" })).rejects.toMatchObject({ status: 403 });
  await expect(service.client.notes.create({ text: "No" })).rejects.toMatchObject({ status: 401 });
  expect((await ada.notes.update(data.id, { text: "Two" })).data.text).toBe("Two");
});

it("a hook knows the settings of its service also in the transaction of a response that is kept", async () => {
  const service = await testService(app, { settings: { LIMIT: "1" } });
  const ada = await service.as("user");
  const create = ada.notes.create({ text: "One" }, { idempotencyKey: "a-key-of-this-request" });
  expect((await create).status).toBe(201);
  await expect(ada.notes.create({ text: "Two" })).rejects.toMatchObject({ status: 409 });
});

it("a test service passes to calls the jobs, the sender and the settings of the service", async () => {
  const service = await testService(app, { settings: { LIMIT: "7" } });
  const ada = await service.as("user");
  await ada.notes.create({ text: "old" });
  const { data } = await ada.tidyNotes({ body: { text: "old" } });
  expectTypeOf(data).toEqualTypeOf<{ limit: number }>();
  expect(data).toEqual({ limit: 7 });
  await expect.poll(async () => (await ada.notes.list()).total).toBe(0);
});

it("a test service lets admins subscribe endpoints", async () => {
  const service = await testService(app);
  const admin = await service.as("admin");
  const url = "http://127.0.0.1:1/hook";
  const { data } = await admin.createWebhook({ body: { url, events: ["note.created", "tidied"] } });
  expect(data).toMatchObject({ url, status: "enabled" });
  const ada = await service.as("user");
  await expect(ada.listWebhooks()).rejects.toMatchObject({ status: 403 });
});

it("a test service makes samples of a resource, and what they refer to", async () => {
  const service = await testService(app);
  const ada = await service.as("user");
  const [one, other] = [await service.sample(note), await service.sample(note)];
  expect(one.text).not.toBe(other.text);
  expect((await ada.notes.create(one)).data.text).toBe(one.text);
  expect(await service.sample(note, { text: "Two" })).toEqual({ text: "Two" });
});

it("a test service makes samples of what belongs to users, and of users", async () => {
  const user = defineUser();
  const member = defineResource({
    name: "member",
    path: "/members",
    schema: z.object({ user: z.string() }),
    access: {},
    relations: { user: { to: () => user } },
  });
  const resources = [resourceRoutes(member)] as const;
  const service = await testService(
    defineService({ name: "members", config, accounts: accounts({ user }), resources }),
  );
  const admin = await service.as("admin");
  const { data } = await admin.members.create(await service.sample(member));
  expect((await admin.users.show(data.user)).data.role).toBe("user");
  const sample = await service.sample(user);
  expect(sample).toEqual({ email: expect.stringContaining("@"), password: expect.any(String) });
});

it("a test service makes what a sample refers to by one user, as rules about owners ask for", async () => {
  const item = defineResource({
    name: "item",
    path: "/items",
    schema: z.object({ note: z.string() }),
    access: {
      create: async ({ caller, fields, store }) =>
        (await store.collection(note.collection).get(fields.note))?.author === caller?.id,
    },
    owner: "owner",
    relations: { note: { to: () => note } },
  });
  const sale = defineResource({
    name: "sale",
    path: "/sales",
    schema: z.object({ item: z.string() }),
    access: {},
    relations: { item: { to: () => item } },
  });
  const resources = [resourceRoutes(note), resourceRoutes(item), resourceRoutes(sale)];
  const service = await testService(defineService({ ...app.options, resources }));
  await expect(service.sample(sale)).resolves.toEqual({ item: expect.any(String) });
});

it("a test service runs the middlewares of the service around the API", async () => {
  const teapot: Middleware = (next) => (request, context) =>
    new URL(request.url).pathname === "/tea" ? json({ tea: true }) : next(request, context);
  const options = { ...app.options, middlewares: [teapot] };
  const service = await testService(defineService(options));
  expect(await (await service.fetch("/tea")).json()).toEqual({ tea: true });
  expect((await service.fetch("/notes")).status).toBe(200);
});
