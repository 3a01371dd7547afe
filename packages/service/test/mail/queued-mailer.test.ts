import { defineRoute } from "@fetchwork/rest";
import { empty } from "@fetchwork/http";
import { openStore } from "@fetchwork/documents";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineService,
  mailSettings,
  openService,
  type QueuedMailer,
  readStartSettings,
  serverSettings,
  type Service,
} from "../../src/index.ts";
import { MailError } from "../../src/mail/mailer.ts";
import { testService } from "../../src/testing/test-service.ts";

const mail = { to: "ada@example.com", subject: "Paid", text: "Thank you,\nAda.\n\n<3" };
const bare = defineService({ name: "bare", config: defineConfig({ ...serverSettings }) });
const app = defineService({
  name: "shop",
  config: defineConfig({ ...serverSettings, ...mailSettings }),
  routes: [
    defineRoute({
      method: "POST",
      path: "/reminders",
      operation: "remind",
      summary: "Remind somebody",
      tag: "reminders",
      access: "public",
      body: z.object({ to: z.string() }),
      responses: { 202: { description: "The mail is queued" } },
      async handle({ body, mailer }) {
        await mailer.send({ to: body.to, subject: "Reminder", text: "It is due." });
        return empty(202);
      },
    }),
  ],
});

it.each([
  ["two addresses", { to: "ada@example.com, bob@example.com" }],
  ["an address with a name", { to: "Ada <ada@example.com>" }],
  ["a header in the address", { to: "ada@example.com\nBcc: bob@example.com" }],
  ["a header in the subject", { subject: "Paid\r\nBcc: bob@example.com" }],
  ["no subject", { subject: "" }],
  ["a text that is too long", { text: "x".repeat(100_001) }],
  ["a field that does not exist", { bcc: "bob@example.com" }],
])("the mailer refuses %s", async (_, change) => {
  const service = await testService(app);
  await expect(service.mailer.send({ ...mail, ...change })).rejects.toMatchObject({
    name: "InputError",
  });
  expect(service.mails).toEqual([]);
});

it("the mailer refuses mails of a service without mailSettings", async () => {
  const service = await testService(bare);
  await expect(service.mailer.send(mail)).rejects.toThrow(/no mails are sent: .*mailSettings/);
});

it("the mailer refuses mails in production without SMTP_URL", async () => {
  const mailer = await opened(app, { NODE_ENV: "production", PUBLIC_URL: "https://shop.example" });
  await expect(mailer.send(mail)).rejects.toThrow(/no mails are sent: .*SMTP_URL/);
});

it("the mailer sends what a call sends, with the text as HTML", async () => {
  const service = await testService(app);
  await service.client.remind({ body: { to: "bob@example.com" } });
  expect(await service.nextMail("bob@example.com")).toEqual({
    to: "bob@example.com",
    subject: "Reminder",
    text: "It is due.",
    html: "<p>It is due.</p>",
  });
  await service.mailer.send(mail);
  const { html } = await service.nextMail("ada@example.com");
  expect(html).toBe("<p>Thank you,<br>Ada.</p>\n<p>&#60;3</p>");
  await service.mailer.send({ ...mail, html: "<b>Paid</b>" });
  expect(await service.nextMail("ada@example.com")).toMatchObject({ html: "<b>Paid</b>" });
});

it("the mailer sends the mail of a transaction with its changes, or not at all", async () => {
  const service = await testService(app);
  const cancelled = service.store.transaction(async (transaction) => {
    await service.mailer.send(mail, { transaction });
    throw new Error("cancelled");
  });
  await expect(cancelled).rejects.toThrow("cancelled");
  await service.store.transaction(async (transaction) => {
    await service.mailer.send({ ...mail, subject: "Kept" }, { transaction });
  });
  expect(await service.nextMail(mail.to)).toMatchObject({ subject: "Kept" });
  expect(service.mails).toHaveLength(1);
});

it("the mailer retries temporary failures and a refused password of the service, and nothing else", async () => {
  const tried: string[] = [];
  const mailer = await opened(app, {}, (subject) => {
    tried.push(subject);
    const isFirst = tried.filter((each) => each === subject).length === 1;
    if (isFirst) {
      const isOfService = subject === "Refused password";
      throw new MailError("a mail was not sent", subject === "Temporary", isOfService);
    }
  });
  await mailer.send({ ...mail, subject: "Permanent" });
  await mailer.send({ ...mail, subject: "Temporary" });
  await mailer.send({ ...mail, subject: "Refused password" });
  await expect.poll(() => tried.length, { timeout: 5_000 }).toBe(5);
  const twice = ["Refused password", "Refused password", "Temporary", "Temporary"];
  expect(tried.toSorted()).toEqual(["Permanent", ...twice]);
});

/** Opens a service in memory, and returns what sends its mails. */
async function opened(
  service: Service,
  environment: Readonly<Record<string, string>>,
  send?: (subject: string) => void,
): Promise<QueuedMailer> {
  const variables = { MASTER_KEY: "test-master-key-test-master-key-0", ...environment };
  const settings = readStartSettings(service, variables);
  const store = await openStore("sqlite::memory:", { collections: service.collections });
  const mailer = send && {
    send: ({ subject }: { readonly subject: string }) => Promise.resolve(send(subject)),
  };
  const open = openService(service, store, { settings, mailer });
  await open.start();
  onTestFinished(async () => {
    await open.stop({ grace: 0 });
    await store.close();
  });
  return open.mailer;
}
