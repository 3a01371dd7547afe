import { json } from "@fetchwork/http";
import { defineResource, defineRoute, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { z } from "zod";
import {
  accountSettings,
  backgroundJob,
  defineConfig,
  defineService,
  serverSettings,
  type Service,
} from "../../src/index.ts";

const run = defineResource({
  name: "run",
  path: "/runs",
  schema: z.object({ pid: z.number(), at: z.number() }),
  access: { list: "public" },
});
const config = defineConfig({
  ...serverSettings,
  ...accountSettings,
  LABEL: z.string().default("none"),
});

/** A service that tells in which process it runs, with a job that is due every two seconds. */
export function createApp(code: string): Service {
  const process_ = defineRoute({
    method: "GET",
    path: "/process",
    operation: "showProcess",
    summary: "Show the process that responds",
    tag: "processes",
    access: "public",
    response: z.object({ pid: z.number(), code: z.string(), label: z.string() }),
    responses: { 200: { description: "The process" } },
    query: [{ name: "wait", description: "Milliseconds", schema: { type: "integer" } }],
    async handle(call) {
      const wait = Number(call.query.get("wait"));
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      return json({ pid: process.pid, code, label: config.of(call).LABEL });
    },
  });
  return defineService({
    name: "counted",
    config,
    accounts: accounts({ user: defineUser(), signIn: "public" }),
    resources: [resourceRoutes(run)],
    routes: [process_],
    jobs: [
      backgroundJob({
        name: "count",
        schedule: { cron: "*/2 * * * * *", timeZone: "UTC" },
        async run(_input, { store }) {
          await store.collection(run.collection).insert({ pid: process.pid, at: Date.now() });
        },
      }),
    ],
  });
}
