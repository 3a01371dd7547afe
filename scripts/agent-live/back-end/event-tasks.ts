import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type BackEndTask, resourceFiles } from "./back-end-task.ts";

const secret = `whsec_${Buffer.from("a secret of 32 bytes for a check").toString("base64")}`;

const orders = resourceFiles(
  "order",
  `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Orders of users: for them and for admins. */
export const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({
    title: z.string().min(1).max(100),
    paid: z.int().min(0).default(0), // cents
  }),
  fields: { paid: { write: "nobody" } },
  access: { list: "owner", show: "owner", create: "user" },
  owner: "customer",
});

export type Order = DocumentOf<typeof order>;
`,
);

const payment: BackEndTask = {
  name: "payment-webhook",
  request:
    'Our payment provider reports payments by Standard Webhooks (headers webhook-id, webhook-timestamp, webhook-signature) to POST /payments/webhooks. Its secret is in the variable PAYMENTS_SECRET. The body is {"type":"payment.received","timestamp":"...","data":{"order":"<id of an order>","amount":500}}: the amount in cents is added to paid of the order. Other types are accepted and change nothing. The provider sends a webhook again until it gets a 2xx response, sometimes twice at the same moment: the same webhook-id is added once. A webhook whose signature does not hold gets a 4xx response.',
  files: orders,
  settings: { PAYMENTS_SECRET: secret },
  async check(service) {
    const as = await service.user();
    const { id } = await service.created("POST /orders", { as, json: { title: "Tea" } });
    const paid = async (): Promise<unknown> =>
      (await service.created(`GET /orders/${String(id)}`, { as }))["paid"];
    const report = (
      webhook: string,
      { type = "payment.received", amount = 500, key = secret, at = Date.now() } = {},
    ) => {
      const timestamp = String(Math.floor(at / 1000));
      const data = { order: id, amount };
      const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
      const bytes = Buffer.from(key.slice("whsec_".length), "base64");
      const signed = `${webhook}.${timestamp}.${body}`;
      const signature = `v1,${createHmac("sha256", bytes).update(signed).digest("base64")}`;
      return service.send("POST /payments/webhooks", {
        body,
        headers: {
          "content-type": "application/json",
          "webhook-id": webhook,
          "webhook-timestamp": timestamp,
          "webhook-signature": signature,
        },
      });
    };
    const refused = [
      await report("msg_forged", {
        key: `whsec_${Buffer.from("another secret").toString("base64")}`,
      }),
      await report("msg_old", { at: Date.now() - 3_600_000 }),
      await service.send("POST /payments/webhooks", {
        json: { type: "payment.received", data: { order: id, amount: 500 } },
      }),
    ];
    for (const { status } of refused) assert.ok(status >= 400 && status <= 499, `it is ${status}`);
    assert.equal(await paid(), 0, "a webhook without a signature that holds was added");
    assert.ok((await report("msg_1")).status < 300);
    assert.equal(await paid(), 500);
    assert.ok((await report("msg_1")).status < 300, "a repetition is accepted");
    assert.equal(await paid(), 500, "a repetition was added");
    await Promise.all(Array.from({ length: 20 }, () => report("msg_2", { amount: 30 })));
    assert.equal(await paid(), 530, "a repetition at the same moment was added");
    assert.ok((await report("msg_3", { type: "payment.created" })).status < 300);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => report(`msg_1${index}`, { amount: 1 })),
    );
    assert.equal(await paid(), 550, "a payment is lost");
  },
};

const reminders: BackEndTask = {
  name: "remind-once",
  request:
    "Admins keep invoices at /invoices. Add a job remind in src/jobs/remind.ts that runs each morning at 6 UTC: it writes a reminder for each invoice that is not paid and whose due date is before today in UTC, a document with the field invoice (the id of the invoice). Admins list them at /reminders; nobody creates, changes or removes one by a request. An invoice is reminded of once, however often the job runs, also when it is run again after it failed half-way, or twice at the same moment.",
  files: resourceFiles(
    "invoice",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Invoices: for admins. */
export const invoice = defineResource({
  name: "invoice",
  path: "/invoices",
  schema: z.object({ due: z.iso.date(), isPaid: z.boolean().default(false) }),
  access: { list: "admin", show: "admin", create: "admin", update: "admin", remove: "admin" },
  filter: ["due", "isPaid"],
});

export type Invoice = DocumentOf<typeof invoice>;
`,
  ),
  async check(service) {
    const [as, ada] = [await service.user("admin"), await service.user()];
    const today = new Date().toISOString().slice(0, 10);
    const ids: unknown[] = [];
    for (const json of [
      { due: "2024-01-31" },
      { due: "2024-02-29" },
      { due: "2024-01-01", isPaid: true },
      { due: "2999-01-01" },
      { due: today },
    ]) {
      ids.push((await service.created("POST /invoices", { as, json }))["id"]);
    }
    const { remind } = await service.load("src/jobs/remind.ts");
    // A job of the project, or `runJob` rejects.
    const job = remind as Parameters<typeof service.runJob>[0];
    assert.equal(job.schedule?.cron, "0 6 * * *");
    await Promise.all([service.runJob(job), service.runJob(job)]);
    await service.runJob(job);
    const reminders = await service.list("GET /reminders", { as });
    assert.equal(reminders.length, 2, "two invoices are overdue");
    assert.deepEqual(new Set(reminders.map(({ invoice }) => invoice)), new Set(ids.slice(0, 2)));
    await service.created("POST /invoices", { as, json: { due: "2024-03-01" } });
    await service.runJob(job);
    assert.equal((await service.list("GET /reminders", { as })).length, 3);
    assert.equal((await service.send("GET /reminders", { as: ada })).status, 403);
    const made = await service.send("POST /reminders", { as, json: { invoice: ids[0] } });
    assert.ok(made.status >= 400, "a request creates a reminder");
  },
};

/** What happens without a request of a user. */
export const eventTasks: readonly BackEndTask[] = [payment, reminders];
