import { json } from "@fetchwork/http";
import { defineRoute, Problem } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import type { ProblemError } from "@fetchwork/rest/client";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineService,
  mailSettings,
  serverSettings,
  webhookSettings,
} from "../src/index.ts";
import { testService, type TestService } from "../src/testing/test-service.ts";

const greeted: string[] = [];
const greet = backgroundJob<string>({
  name: "greet",
  run: async (name) => void greeted.push(name),
});

const config = defineConfig({
  ...serverSettings,
  ...accountSettings,
  ...mailSettings,
  ...webhookSettings,
});

const app = defineService({
  name: "greetings",
  config,
  accounts: accounts({ user: defineUser({}) }),
  jobs: [greet],
  webhooks: { events: ["greeted"] },
  routes: [
    defineRoute({
      method: "POST",
      path: "/greetings",
      operation: "greetSomebody",
      summary: "Greet somebody",
      tag: "greetings",
      access: "user",
      atomic: true,
      body: z.object({ name: z.string(), refused: z.boolean().default(false) }),
      responses: { 202: { description: "The greeting is queued" } },
      async handle({ body, jobs, mailer, sender, afterCommit }) {
        const { name } = body;
        await jobs.add(greet, name);
        await mailer.send({ to: `${name}@example.com`, subject: "Hello", text: "Hello." });
        await sender.send({ name: "greeted", payload: { name } });
        if (body.refused) throw new Problem(409, { detail: "nobody greets them" });
        afterCommit?.(async () => void (await jobs.add(greet, `${name}, after the commit`)));
        return json({}, { status: 202 });
      },
    }),
  ],
});

interface Greetings {
  readonly service: TestService;
  /** Resolves to the status of the response. */
  greet(name: string, idempotencyKey: string, refused?: boolean): Promise<number>;
}

async function openGreetings(): Promise<Greetings> {
  const service = await testService(app);
  await service.sender.endpoints.create({ url: "https://hooks.example/", events: ["greeted"] });
  const ada = await service.as("user");
  return {
    service,
    greet(name: string, idempotencyKey: string, refused = false): Promise<number> {
      const sent = ada.greetSomebody({ body: { name, refused } }, { idempotencyKey });
      return sent.then(
        ({ status }) => status,
        (error: unknown) => (error as ProblemError).status,
      );
    },
  };
}

it("jobs, mails and webhooks of a handler are queued once for each Idempotency-Key", async () => {
  greeted.length = 0;
  const { service, greet: send } = await openGreetings();
  const statuses = [
    await send("ada", "key-number-one"),
    await send("ada", "key-number-one"),
    await send("ada", "key-number-two"),
  ];
  expect(statuses).toEqual([202, 202, 202]);
  await expect.poll(() => greeted.length).toBe(4);
  expect(greeted.toSorted()).toEqual([
    "ada",
    "ada",
    "ada, after the commit",
    "ada, after the commit",
  ]);
  await expect.poll(() => service.mails.length).toBe(2);
  await expect.poll(async () => (await service.sender.deliveries()).length).toBe(2);
});

it("a request that fails under its Idempotency-Key queues nothing", async () => {
  greeted.length = 0;
  const { service, greet: send } = await openGreetings();
  expect(await send("bob", "key-number-one", true)).toBe(409);
  expect(await send("ada", "key-number-two")).toBe(202);
  await expect.poll(() => greeted).toEqual(["ada", "ada, after the commit"]);
  expect(service.mails.map(({ to }) => to)).toEqual(["ada@example.com"]);
  await expect.poll(async () => (await service.sender.deliveries()).length).toBe(1);
});
