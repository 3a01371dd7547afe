import { json } from "@fetchwork/http";
import { defineResource, defineRoute, Problem, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineService,
  serverSettings,
  webhookSettings,
  type Service,
} from "@fetchwork/service";
import { z } from "zod";

/** How many accounts hold money, and how much each has at first, in cents. */
export const purse = { accounts: 20, cents: 100_000 } as const;

/** The text of what the service must refuse: no document may contain it. */
export const refusedText = "must be refused";

const text = z
  .string()
  .max(200)
  .refine((value) => !value.startsWith(refusedText));

/** Holds money. Only transfers change it. */
export const account = defineResource({
  name: "account",
  path: "/accounts",
  schema: z.object({ number: z.int(), cents: z.int() }),
  access: { list: "public", show: "public" },
});

/**
 * A transfer that was made. Its `reference` is that of the client, and no index makes it unique.
 */
export const transfer = defineResource({
  name: "transfer",
  path: "/transfers",
  schema: z.object({ reference: z.string(), from: z.int(), to: z.int(), cents: z.int() }),
  access: { list: "public", show: "public" },
});

/** What the job of a transfer writes: one document for each transfer. */
export const receipt = defineResource({
  name: "receipt",
  path: "/receipts",
  schema: z.object({ reference: z.string() }),
  access: { list: "public" },
});

const noteFields = z.object({ reference: z.string().max(100), text });
const access = { list: "public", show: "public", create: "user", update: "user" } as const;

/** The notes of the first version of the model, and of the second one, which has one more field. */
const notes = {
  1: defineResource({
    name: "note",
    path: "/notes",
    schema: noteFields,
    access: { ...access, remove: "user" },
    changes: "documents",
  }),
  2: defineResource({
    name: "note",
    path: "/notes",
    schema: noteFields.extend({ mood: z.string().max(20).optional() }),
    access: { ...access, remove: "user" },
    changes: "documents",
  }),
} as const;

/** A version of the model. */
export type ModelVersion = keyof typeof notes;

/** The notes of the newest model. */
export const note = notes[2];

const writeReceipt = backgroundJob<{ readonly reference: string }>({
  name: "receipt",
  backoff: { baseDelay: 50, maxDelay: 1_000 },
  retries: 1_000,
  async run({ reference }, run) {
    await run.complete(async (transaction) => {
      await transaction.collection(receipt.collection).insert({ reference });
    });
  },
});

const makeTransfer = defineRoute({
  method: "POST",
  path: "/transfer-orders",
  operation: "makeTransfer",
  summary: "Move money from one account to another one",
  tag: "transfer orders",
  access: "user",
  atomic: true,
  body: z.object({
    reference: z.string().max(100),
    from: z.string(),
    to: z.string(),
    cents: z.int().min(1),
  }),
  responses: {
    201: { description: "The money is moved" },
    404: { description: "Account not found" },
    422: { description: "The account has too little" },
  },
  async handle({ body, jobs, sender, store }) {
    const { cents, reference } = body;
    await store.transaction(async (transaction) => {
      const all = transaction.collection(account.collection);
      const from = await all.get(body.from);
      const to = await all.get(body.to);
      if (from === undefined || to === undefined || from.id === to.id) throw new Problem(404);
      // The money is taken before the transfer is refused: a refusal must undo it.
      await all.update(from.id, { cents: from.cents - cents });
      await all.update(to.id, { cents: to.cents + cents });
      const made = { reference, from: from.number, to: to.number, cents };
      await transaction.collection(transfer.collection).insert(made);
      await jobs.add(writeReceipt, { reference }, { transaction });
      await sender.send({ name: "transfer", payload: { reference } }, { transaction });
      if (from.cents < cents) throw new Problem(422, { detail: "the account has too little" });
    });
    return json({ reference }, { status: 201 });
  },
});

const showProcess = defineRoute({
  method: "GET",
  path: "/process",
  operation: "showProcess",
  summary: "Show the version of the model of the process that responds",
  tag: "process",
  access: "public",
  responses: { 200: { description: "The process" } },
  handle: () => json({ pid: process.pid }),
});

/** Makes the service with a version of its model. */
export function createService(version: ModelVersion): Service {
  return defineService({
    name: "soak",
    config: defineConfig({ ...serverSettings, ...accountSettings, ...webhookSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [
      resourceRoutes(account),
      resourceRoutes(receipt),
      version === 1 ? resourceRoutes(notes[1]) : resourceRoutes(notes[2]),
    ],
    routes: [...resourceRoutes(transfer), makeTransfer, showProcess],
    jobs: [writeReceipt],
    webhooks: { events: ["transfer"] },
  });
}
