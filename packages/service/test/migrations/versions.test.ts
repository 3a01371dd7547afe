import type { Store } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineService,
  openService,
  readStartSettings,
  serverSettings,
} from "../../src/index.ts";
import type { Log } from "../../src/log/log.ts";
import { item, oldStore, rename, start } from "./migrating-service.ts";

const titel = z.string().min(1);
const count = z.int().default(0);

/** A version of the service: with the old field, with the new one, or with both. */
function openVersion(store: Store, shape: z.ZodRawShape): Version {
  const config = defineConfig({ ...serverSettings });
  const resource = defineResource({
    name: "item",
    path: "/items",
    schema: z.object({ ...shape, count }),
    access: {
      show: "public",
      update: "public",
      list: "public",
      create: "public",
      remove: "master",
    },
  });
  const service = defineService({ name: "version", config, resources: [resourceRoutes(resource)] });
  const settings = readStartSettings(service, { MASTER_KEY: "m".repeat(32) });
  const logs: Log = { started: ignore, noted: ignore, warned: ignore, failed: ignore };
  const { handler } = openService(service, store, { settings, logs });
  const send = async (method: string, id: string, init: RequestInit = {}): Promise<Response> =>
    runHandler(handler, new Request(`http://localhost/items/${id}`, { method, ...init }));
  return {
    etag: async (id) => (await send("GET", id)).headers.get("etag") ?? "",
    patch: async (id, body, headers = {}) => {
      const sent = { "content-type": "application/json", ...headers };
      return (await send("PATCH", id, { headers: sent, body: JSON.stringify(body) })).status;
    },
  };
}

interface Version {
  etag(id: string): Promise<string>;
  patch(id: string, body: object, headers?: Readonly<Record<string, string>>): Promise<number>;
}

async function migrate(store: Store): Promise<void> {
  const { lines } = await start(store, [rename]);
  await expect.poll(() => lines.at(-1)).toContain("is done");
}

it("an API with two versions refuses a change by a version whose model the other form does not fit, and changes nothing", async () => {
  const store = await oldStore(1);
  const [stored] = await store.collection(item.collection).find();
  const id = stored?.id ?? "";
  const before = openVersion(store, { titel });
  const after = openVersion(store, { title: titel });
  const results = [await before.patch(id, { count: 1 }), await after.patch(id, { count: 2 })];
  await migrate(store);
  results.push(await before.patch(id, { count: 3 }), await after.patch(id, { count: 4 }));
  expect(results).toEqual([200, 409, 409, 200]);
  expect(await store.collection(item.collection).get(id)).toMatchObject({ title: "t0", count: 4 });
});

it("an API with two versions refuses no change by a version between the two, but for an ETag from before the migration", async () => {
  const store = await oldStore(1);
  const [stored] = await store.collection(item.collection).find();
  const id = stored?.id ?? "";
  const between = openVersion(store, { titel: titel.optional(), title: titel.optional() });
  const old = await between.etag(id);
  const results = [await between.patch(id, { count: 1 })];
  const read = await between.etag(id);
  await migrate(store);
  results.push(await between.patch(id, { count: 2 }, { "if-match": read }));
  results.push(await between.patch(id, { count: 3 }));
  const now = await between.etag(id);
  results.push(await between.patch(id, { count: 4 }, { "if-match": now }));
  expect([results, old === read]).toEqual([[200, 412, 200, 200], false]);
  expect(await store.collection(item.collection).get(id)).toMatchObject({ title: "t0", count: 4 });
});

function ignore(): void {}
