import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

const modules = path.join(import.meta.dirname, "../../../../node_modules");

const app = `
import { administer } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import { z } from "zod";
import { defineResource, defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import {
  accountSettings, defineConfig, defineReceiver, defineService, mailSettings, serverSettings, webhookSettings,
} from "@fetchwork/service";
import { stripe } from "@fetchwork/webhooks/vendors";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  search: ["text"],
  changes: "documents",
});

// In a thread.
const check = defineRoute({
  method: "GET",
  path: "/problems",
  operation: "listProblems",
  summary: "List what is wrong with the store",
  tag: "store",
  access: "public",
  response: z.object({ ok: z.boolean(), problems: z.array(z.string()) }),
  responses: { 200: { description: "What is wrong" } },
  handle: async ({ store }) => json(await administer(store).check()),
});

export const app = defineService({
  name: "notes",
  title: "Notes",
  config: defineConfig({
    ...serverSettings, ...accountSettings, ...mailSettings, ...webhookSettings,
    STRIPE_SECRET: z.string().min(8).optional(),
  }),
  accounts: accounts({ user: defineUser(), signIn: "public" }),
  routes: [check],
  resources: [resourceRoutes(note)],
  receivers: [
    defineReceiver({ name: "payments", path: "/payments", vendor: stripe, secret: "STRIPE_SECRET", on: {} }),
  ],
  webhooks: true,
});
`;

const entry = `
import { runService } from "@fetchwork/service";
import { app } from "./app.ts";

await runService(app);
`;

/**
 * Makes a project in a temporary folder, with the packages of this repository; it is removed with
 * the test.
 */
export async function makeProject(files: { readonly app?: string } = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "service-project-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "src"));
  await symlink(modules, path.join(folder, "node_modules"));
  const manifest = { name: "notes", version: "1.0.0", type: "module" };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  await writeFile(path.join(folder, "src/app.ts"), files.app ?? app);
  await writeFile(path.join(folder, "src/index.ts"), entry);
  return folder;
}
