import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { expect, it } from "vitest";
import { z } from "zod";
import { verifyService } from "../src/index.ts";
import { serviceOf } from "./seeded.ts";

const options = {
  name: "post",
  path: "/posts",
  schema: z.object({
    title: z.string(),
    tags: z.array(z.string()),
    state: z.enum(["draft", "shown"]),
  }),
  access: { list: "public", show: "public", create: "user" },
  filter: ["tags", "state"],
  sort: ["title"],
  search: ["title"],
} as const;

it("verifyService() with scale names the index that a filter needs, and nothing once it is declared", async () => {
  const slow = await verifyService(serviceOf(resourceRoutes(defineResource(options))), {
    scale: 5000,
  });
  expect(slow.findings.map(({ code, resource, field }) => ({ code, resource, field }))).toEqual([
    { code: "cost-grows", resource: "post", field: "tags" },
  ]);
  expect(slow.findings[0]?.fix).toContain('declare indexes: ["tags"]');
  expect(slow.findings[0]?.request.path).toMatch(/^\/posts\?tags=/);

  const indexed = defineResource({ ...options, indexes: ["tags"] });
  const quick = await verifyService(serviceOf(resourceRoutes(indexed)), { scale: 5000 });
  expect(quick.findings).toEqual([]);
  const ways = quick.costs.filter(({ resource }) => resource === "post").map(({ way }) => way);
  expect(new Set(ways)).toEqual(new Set(["list", "count", "search", "sort", "filter"]));
});

it.each([0, 999, 1_000_001, 1.5])("verifyService() refuses a scale of %s", async (scale) => {
  const service = serviceOf(resourceRoutes(defineResource(options)));
  await expect(verifyService(service, { scale })).rejects.toMatchObject({
    code: "ERR_VERIFY_OPTIONS",
  });
});
