import { newResource, type Solutions } from "./solution.ts";

const receiver = "src/receivers/payments.ts";
const job = "src/jobs/remind.ts";
const reminder = "src/api/reminder/model.ts";

const verified = `    const webhooks = new Webhooks({ secret: process.env["PAYMENTS_SECRET"] ?? "", vendor: standardWebhooks });
    webhooks.on("payment.received", async ({ payload }) => {
      const { order: id, amount } = payload.data as { order: string; amount: number };
      await store.collection(order.collection).increment(id, { paid: amount });
    });
    return createWebMiddleware(webhooks, { path: "/payments/webhooks" })(request, context);
`;

const unverified = `    const { type, data } = (await request.json()) as { type: string; data: { order: string; amount: number } };
    if (type === "payment.received") {
      await store.collection(order.collection).increment(data.order, { paid: data.amount });
    }
    return new Response(null, { status: 204 });
`;

/** A separate route in the place of a receiver. */
const ownRoute = (handle: string): string => `import { defineRoute } from "@fetchwork/rest";
import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import { standardWebhooks } from "@fetchwork/webhooks/vendors";
import { resourceRoutes } from "@fetchwork/rest";
import { order } from "./model.ts";

const receive = defineRoute({
  method: "POST",
  path: "/payments/webhooks",
  operation: "receivePayments",
  summary: "Receive payments",
  tag: "orders",
  access: "public",
  raw: true,
  responses: { 204: { description: "Handled" } },
  async handle({ request, context, store }) {
${handle}  },
});

export const orderRoutes = [...resourceRoutes(order), receive];
`;

const remindOnce = `      await store.transaction(async (transaction) => {
        const reminders = transaction.collection(reminder.collection);
        const [known] = await reminders.find({ where: { invoice: id }, limit: 1 });
        if (!known) await reminders.insert({ invoice: id });
      });
`;

/** Solutions of the tasks about webhooks and jobs. */
export const eventSolutions: Solutions = {
  "payment-webhook": {
    right: {
      [receiver]: `import { defineReceiver } from "@fetchwork/service";
import { standardWebhooks } from "@fetchwork/webhooks/vendors";
import { order } from "../api/order/model.ts";

export const payments = defineReceiver({
  name: "payments",
  path: "/payments/webhooks",
  vendor: standardWebhooks,
  secret: "PAYMENTS_SECRET",
  on: {
    "payment.received": async ({ payload }, { store }) => {
      const { order: id, amount } = payload.data as { order: string; amount: number };
      await store.collection(order.collection).increment(id, { paid: amount });
    },
  },
});
`,
    },
    wrong: {
      "anybody reports a payment": [
        { path: receiver, replace: undefined },
        { path: "src/api/order/index.ts", replace: ownRoute(unverified) },
      ],
      "a repetition is added": [
        { path: receiver, replace: undefined },
        { path: "src/api/order/index.ts", replace: ownRoute(verified) },
      ],
      "a payment is read, and written later": [
        {
          path: receiver,
          search:
            "      await store.collection(order.collection).increment(id, { paid: amount });\n",
          replace: `      const orders = store.collection(order.collection);
      const found = await orders.get(id);
      if (found) await orders.update(id, { paid: found.paid + amount });
`,
        },
      ],
    },
  },
  "remind-once": {
    right: {
      ...newResource(
        "reminder",
        `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const reminder = defineResource({
  name: "reminder",
  path: "/reminders",
  schema: z.object({ invoice: z.string() }),
  access: { list: "admin", show: "admin" },
  unique: ["invoice"],
});

export type Reminder = DocumentOf<typeof reminder>;
`,
      ),
      "src/api/reminder/index.ts": `import { createResourceController, resourceRoutes } from "@fetchwork/rest";
import { reminder } from "./model.ts";

const { list, show } = createResourceController(reminder);

export const reminderRoutes = [...resourceRoutes(reminder, { list, show })];
`,
      [job]: `import { backgroundJob } from "@fetchwork/service";
import { invoice } from "../api/invoice/model.ts";
import { reminder } from "../api/reminder/model.ts";

export const remind = backgroundJob({
  name: "remind",
  schedule: { cron: "0 6 * * *", timeZone: "UTC" },
  async run(_input, { store }) {
    const today = new Date().toISOString().slice(0, 10);
    const where = { isPaid: false, due: { lt: today } };
    for await (const { id } of store.collection(invoice.collection).stream({ where })) {
${remindOnce}    }
  },
});
`,
    },
    wrong: {
      "each run reminds again": [
        {
          path: job,
          search: remindOnce,
          replace: "      await store.collection(reminder.collection).insert({ invoice: id });\n",
        },
        { path: reminder, search: '  unique: ["invoice"],\n', replace: "" },
      ],
      "an invoice that is due today is reminded of": [
        { path: job, search: "due: { lt: today }", replace: "due: { lte: today }" },
      ],
      "paid invoices are reminded of": [
        {
          path: job,
          search: "{ isPaid: false, due: { lt: today } }",
          replace: "{ due: { lt: today } }",
        },
      ],
      "users list reminders": [
        { path: reminder, search: 'list: "admin"', replace: 'list: "user"' },
      ],
    },
  },
};
