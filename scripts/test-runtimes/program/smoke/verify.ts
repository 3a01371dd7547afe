import { json } from "@fetchwork/http";
import { defineResource, defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { accountSettings, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { verifyService } from "@fetchwork/verify";
import { z } from "zod";
import { expect, type Platform } from "../platform.ts";

/** Finds a route that shows everyone what the rules show to owners. */
export async function smoke(_platform: Platform): Promise<void> {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    access: { list: "owner", show: "owner", create: "user" },
    owner: "author",
  });
  const texts = defineRoute({
    method: "GET",
    path: "/texts",
    operation: "listTexts",
    summary: "List all texts",
    tag: "notes",
    access: "public",
    responses: { 200: { description: "Texts" } },
    handle: async ({ store }) => json(await store.collection(note.collection).find()),
  });
  const app = defineService({
    name: "notes",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(note)],
    routes: [texts],
  });
  const { findings } = await verifyService(app);
  const found = findings.find(({ caller, field }) => caller === "anonymous" && field === "text");
  expect("what everyone reads", found?.way, "listTexts");
}
