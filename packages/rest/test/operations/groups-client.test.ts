import { serve } from "@fetchwork/http/serve";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/index.ts";
import { createApi } from "../../src/http/api.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { masterKey, memoryStore, noAccounts } from "../api-client.ts";

const post = defineResource({
  name: "post",
  path: "/blog-posts",
  schema: z.object({ title: z.string(), stars: z.number().int() }),
  access: { list: "public", create: "master" },
  filter: ["stars"],
  groups: ["title", "stars"],
});

async function open() {
  const api = createApi({
    title: "Test",
    version: "1.0.0",
    store: await memoryStore(),
    authentication: noAccounts(),
    routes: [...resourceRoutes(post, createResourceController(post))],
  });
  const server = await serve(api.handler, { port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const client = createClient<typeof api>({ baseUrl: server.url, token: masterKey });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return { client };
}

describe("groups of the typed client", () => {
  it("counts and sums up by group, typed by what was asked for", async () => {
    const { client } = await open();
    for (const stars of [1, 2, 2]) await client.blogPosts.create({ title: `t${stars}`, stars });
    const { data, total, isTotalCapped } = await client.blogPosts.groups({
      by: "stars",
      sum: ["stars"],
      avg: "stars",
      sort: "-count",
      "stars[gte]": 1,
    });
    expect([total, isTotalCapped]).toEqual([2, false]);
    expect(data).toEqual([
      { by: { stars: 2 }, count: 2, sum: { stars: 4 }, avg: { stars: 2 } },
      { by: { stars: 1 }, count: 1, sum: { stars: 1 }, avg: { stars: 1 } },
    ]);
    type One = (typeof data)[number];
    expectTypeOf<One["by"]>().toEqualTypeOf<{ readonly stars: number | null }>();
    expectTypeOf<One["count"]>().toEqualTypeOf<number>();
    expectTypeOf<One["sum"]>().toEqualTypeOf<{ readonly stars: number }>();
    expectTypeOf<One["avg"]>().toEqualTypeOf<{ readonly stars: number | null }>();
    // @ts-expect-error -- nothing was asked of the greatest value
    expect(data[0]?.max).toBeUndefined();
    // @ts-expect-error -- there is no such field
    await expect(client.blogPosts.groups({ by: "none" })).rejects.toMatchObject({ param: "by" });
    const { data: whole } = await client.blogPosts.groups();
    expect(whole).toEqual([{ by: {}, count: 3 }]);
  });
});
