import { json } from "@fetchwork/http";
import { defineResource, defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { z } from "zod";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineReceiver,
  defineService,
  mailSettings,
  serverSettings,
  webhookSettings,
} from "../src/index.ts";

/** The settings of {@link app}. */
export const config = defineConfig({
  ...serverSettings,
  ...accountSettings,
  ...mailSettings,
  ...webhookSettings,
  WEBHOOK_SECRET: z.string().optional(),
});

/** Settings that it cannot do without. */
export const secrets = { MASTER_KEY: "m".repeat(32), JWT_SECRET: "j".repeat(32) } as const;

/** A resource whose changes are recorded. */
export const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1).max(200) }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  changes: "documents",
});

/** A job that removes the notes with a text. */
export const tidy = backgroundJob<{ readonly text: string }>({
  name: "tidy",
  async run({ text }, { store }) {
    await store.collection(note.collection).removeMany({ where: { text } });
  },
});

/** A receiver of what a service of Fetchwork sends; events become notes. */
export const inbox = defineReceiver({
  name: "inbox",
  path: "/inbox",
  vendor: fetchwork,
  secret: "WEBHOOK_SECRET",
  on: {
    async wish({ payload }, { store }) {
      await store.collection(note.collection).insert({ text: String(payload["text"]) });
    },
    async user({ payload }, { store }) {
      const text = `user ${String(payload["action"])}`;
      await store.collection(note.collection).insert({ text });
    },
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
  responses: { 202: { description: "They will be removed" } },
  async handle(call) {
    await call.jobs.add(tidy, { text: call.body.text });
    return json({}, { status: 202 });
  },
});

/** A small service with all that a service may have. */
export const app = defineService({
  name: "notes",
  title: "Notes",
  config,
  accounts: accounts({ user: defineUser({ changes: "documents" }) }),
  resources: [resourceRoutes(note)],
  routes: [queueTidying],
  jobs: [tidy],
  receivers: [inbox],
  webhooks: { events: ["tidied"] },
});
