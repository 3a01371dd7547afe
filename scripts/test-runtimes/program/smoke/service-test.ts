import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { accountSettings, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { testService } from "@fetchwork/service/test";
import { z } from "zod";
import { expect, type Platform } from "../platform.ts";

/** Opens a service, creates as a user, and is refused as nobody. */
export async function smoke(_platform: Platform): Promise<void> {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    access: { list: "public", create: "user" },
  });
  const app = defineService({
    name: "notes",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(note)],
  });
  const service = await testService(app);
  const ada = await service.as("user");
  expect("what a user creates", (await ada.notes.create({ text: "One" })).data.text, "One");
  expect("a list", (await service.client.notes.list()).data.length, 1);
  const refused = await service.client.notes
    .create({ text: "No" })
    .catch((error: unknown) => error);
  expect("nobody", (refused as { readonly status?: number }).status, 401);
  await service.close();
}
