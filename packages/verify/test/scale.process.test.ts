import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineResource, listParameter, resourceRoutes } from "@fetchwork/rest";
import { expect, it, onTestFinished, vi } from "vitest";
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

/** Other tests may need the processors. */
const timeout = 60_000;

it("verifyService() with scale names the index that a filter needs", { timeout }, async () => {
  const service = serviceOf(resourceRoutes(defineResource(options)));
  const { findings } = await verifyService(service, { scale: 5000 });
  expect(findings.map(({ code, resource, field }) => ({ code, resource, field }))).toEqual([
    { code: "cost-grows", resource: "post", field: "tags" },
  ]);
  expect(findings[0]?.fix).toContain('declare indexes: ["tags"]');
  expect(findings[0]?.request.path).toMatch(/^\/posts\?tags=/);
});

it("verifyService() with scale finds nothing once the index is declared", { timeout }, async () => {
  const indexed = defineResource({ ...options, indexes: ["tags"] });
  const service = serviceOf(resourceRoutes(indexed));
  const { costs, findings } = await verifyService(service, { scale: 5000 });
  expect(findings).toEqual([]);
  const ways = costs.filter(({ resource }) => resource === "post").map(({ way }) => way);
  expect(new Set(ways)).toEqual(new Set(["list", "count", "search", "sort", "filter"]));
});

it(
  "verifyService() with scale reports a parameter that compares a field without an index",
  { timeout },
  async () => {
    const minStock = listParameter({
      schema: z.int(),
      where: (stock) => ({ stock: { gte: stock } }),
    });
    const item = defineResource({
      name: "item",
      path: "/items",
      schema: z.object({ stock: z.int() }),
      access: { list: "public", show: "public" },
      list: { parameters: { min_stock: minStock } },
    });
    const { findings } = await verifyService(serviceOf(resourceRoutes(item)), { scale: 1000 });
    expect(findings).toMatchObject([
      { code: "cost-grows", resource: "item", way: "parameter min_stock" },
    ]);
    expect(findings[0]?.fix).toContain('declare indexes: ["stock"]');
  },
);

it(
  "verifyService() with scale asks again before it reports one slow response",
  { timeout },
  async () => {
    const asked: number[] = [];
    const minStock = listParameter({
      schema: z.int(),
      where: (stock) => {
        asked.push(stock);
        // The first response with all documents is slow, as on a machine that is busy for a moment.
        if (asked.length === 4) block(800);
        return { stock: { gte: stock } };
      },
    });
    const item = defineResource({
      name: "item",
      path: "/items",
      schema: z.object({ stock: z.int() }),
      indexes: ["stock"],
      access: { list: "public", show: "public" },
      list: { parameters: { min_stock: minStock } },
    });
    const { costs, findings } = await verifyService(serviceOf(resourceRoutes(item)), {
      scale: 1000,
    });
    expect(costs.find(({ way }) => way === "parameter min_stock")?.many).toBeGreaterThan(700);
    expect(findings).toEqual([]);
  },
);

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it(
  "verifyService() ends with its signal while it makes documents, and removes their file",
  { timeout },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "verify-signal-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const stop = new AbortController();
    const running = verifyService(serviceOf(resourceRoutes(defineResource(options))), {
      scale: 1_000_000,
      signal: stop.signal,
    });
    const ended = running.catch((error: unknown) => error);
    await vi.waitUntil(async () => (await readdir(folder)).length > 0, { timeout });
    stop.abort(new Error("enough"));
    expect(await ended).toMatchObject({ message: "enough" });
    expect(await readdir(folder)).toEqual([]);
  },
);

it.each([0, 999, 1_000_001, 1.5])("verifyService() refuses a scale of %s", async (scale) => {
  const service = serviceOf(resourceRoutes(defineResource(options)));
  await expect(verifyService(service, { scale })).rejects.toMatchObject({
    code: "ERR_VERIFY_OPTIONS",
  });
});
