import { json } from "@fetchwork/http";
import { defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import type { createClient } from "@fetchwork/rest/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineService,
  ServiceError,
  serverSettings,
  type ServiceOptions,
} from "../src/index.ts";
import { testService } from "../src/testing/test-service.ts";
import { app, config, note } from "./notes-service.ts";

const tidy = backgroundJob({ name: "tidy", run: () => undefined });
const withoutUsers = defineConfig({ ...serverSettings });
const users = accounts({ user: defineUser() });

describe("defineService", () => {
  it.each<[string, object, RegExp | string]>([
    ["an unknown option", { name: "notes", config, resource: [] }, "resource"],
    ["a name with spaces", { name: "my notes", config }, /^name must be .*, got "my notes"$/],
    ["a name with capitals", { name: "Notes", config }, /^name must be .*, got "Notes"$/],
    ["an empty name", { name: "", config }, /^name must be .*, got ""$/],
    ["webhooks without accounts", { name: "notes", config, webhooks: true }, "need accounts"],
    [
      "an unknown option of webhooks",
      { name: "notes", config, accounts: users, webhooks: { event: ["paid"] } },
      'webhooks has no option "event"',
    ],
    ["two jobs of one name", { name: "notes", config, jobs: [tidy, tidy] }, "two jobs are called"],
    [
      "a job with a name of the service",
      { name: "notes", config, jobs: [{ ...tidy, name: "service-mail" }] },
      "a job is called service-mail",
    ],
    ["a config without keys", { name: "notes", config: defineConfig({}) }, "lacks MASTER_KEY"],
    [
      "users without their settings",
      { name: "notes", config: withoutUsers, accounts: users },
      "config lacks JWT_SECRET",
    ],
  ])("refuses %s", (_, options, message) => {
    const define = () => defineService(options as ServiceOptions);
    expect(define).toThrow(ServiceError);
    expect(define).toThrow(message);
  });

  it("takes the name for the title, and has a version", () => {
    const { title, version } = defineService({ name: "notes", config: withoutUsers });
    expect([title, version]).toEqual(["notes", "1.0.0"]);
  });

  it("knows its resources, users first and each once", () => {
    expect(app.resources.map(({ name }) => name)).toEqual(["user", "note"]);
    const twice = [resourceRoutes(note), resourceRoutes(note)];
    const service = defineService({ name: "notes", config: withoutUsers, resources: twice });
    expect(service.resources).toEqual([note]);
  });
});

describe("the calls of a service", () => {
  const remind = defineRoute({
    method: "POST",
    path: "/reminders",
    operation: "remind",
    summary: "Send a reminder",
    tag: "reminders",
    access: "public",
    responses: { 202: { description: "Sent" } },
    async handle(call) {
      await call.sender.send({ name: "reminded", payload: {} });
      return json({}, { status: 202 });
    },
  });

  it("have no sender without webhooks", async () => {
    const service = await testService(
      defineService({ name: "notes", config: withoutUsers, routes: [remind] }),
    );
    expect((await service.fetch("/reminders", { method: "POST" })).status).toBe(500);
    expect(() => service.sender.send({ name: "reminded", payload: {} })).toThrow(ServiceError);
  });

  it("send the events that webhooks name", async () => {
    const service = await testService(
      defineService({
        name: "notes",
        config: defineConfig({ ...serverSettings, ...accountSettings }),
        accounts: users,
        routes: [remind],
        webhooks: { events: ["reminded"] },
      }),
    );
    expect((await service.fetch("/reminders", { method: "POST" })).status).toBe(202);
  });

  it("belong to the settings of their service, and no foreign store does", async () => {
    const first = await testService(app, {
      settings: { WEBHOOK_SECRET: "first-secret-0123456789" },
    });
    const second = await testService(app);
    expect(config.of(first).WEBHOOK_SECRET).toBe("first-secret-0123456789");
    expect(config.of(second).WEBHOOK_SECRET).toBeUndefined();
    expect(() => withoutUsers.of(first)).toThrow(ServiceError);
  });
});

describe("the client of a service", () => {
  it("has its operations, and no other", async () => {
    const { as, client } = await testService(app);
    const ada = await as("user");
    const { data } = await ada.notes.create({ text: "One" });
    expect(data.text).toBe("One");
    // @ts-expect-error -- a note has a text
    await expect(ada.notes.create({ title: "One" })).rejects.toMatchObject({ status: 400 });
    // @ts-expect-error -- there is no such operation
    const unknown: unknown = () => client.forgetNotes();
    expect(unknown).toBeTypeOf("function");
    // @ts-expect-error -- nor such a resource
    await expect(client.articles.list()).rejects.toMatchObject({ code: "ERR_REST_OPERATION" });
  });

  it("has the own fields of users, with their types", async () => {
    const kind = z.enum(["a", "b"]).default("a");
    const service = defineService({
      name: "notes",
      config,
      accounts: accounts({
        user: defineUser({ schema: z.object({ kind }), fields: { kind: { write: "admin" } } }),
        signUp: "public",
        signIn: "public",
      }),
      webhooks: true,
    });
    const { as, client } = await testService(service);
    const [admin, ada] = [await as("admin"), await as("user")];
    const { id } = (await ada.auth.me()).data;
    await admin.users.update(id, { kind: "b" });
    expect((await ada.users.show(id)).data.kind).toBe("b");
    expect((await ada.auth.me()).data.kind).toBe("b");
    const calls = (own: ReturnType<typeof createClient<typeof service>>) => [
      // @ts-expect-error -- no such value
      own.users.update(id, { kind: "c" }),
      // @ts-expect-error -- no such value
      client.auth.signUp({ email: "a@example.com", password: "a password", kind: "c" }),
      client.auth.signUp({ email: "a@example.com", password: "a password", kind: "b" }),
      // @ts-expect-error -- no such field
      client.auth.signUp({ email: "a@example.com", password: "a password", city: "Bonn" }),
    ];
    expect(calls).toBeTypeOf("function");
  });

  it("has no webhooks where the service has none", async () => {
    const { client } = await testService(defineService({ name: "notes", config: withoutUsers }));
    // @ts-expect-error -- the service has no webhooks
    const list: unknown = () => client.listWebhooks();
    expect(list).toBeTypeOf("function");
  });
});
