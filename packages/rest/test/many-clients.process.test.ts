import { fork } from "node:child_process";
import { join } from "node:path";
import { openStore, type Store } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { newDatabase } from "../../documents/test/open-for-test.ts";
import { noPostgres } from "../../documents/test/postgres-server.ts";
import { temporaryFolder } from "../../documents/test/temporary-folder.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import type { Resource } from "../src/resource/resource.ts";
import { type Answer, openAsUsers } from "./as-users.ts";

const open = {
  list: "public",
  show: "public",
  create: "user",
  update: "user",
  remove: "user",
} as const;
const person = defineResource({
  name: "person",
  path: "/people",
  schema: z.object({ email: z.string(), visits: z.int().default(0) }),
  access: open,
  unique: ["email"],
});
const card = defineResource({
  name: "card",
  path: "/cards",
  schema: z.object({ text: z.string(), person: z.string().optional() }),
  access: open,
  bulk: true,
  relations: { person: { to: (): Resource => person, onDelete: "cascade" } },
});
const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  access: open,
});
const all: readonly Resource[] = [person, card, note];
const routes = all.flatMap((one) => resourceRoutes(one, createResourceController(one)));
const collections = all.map(({ collection }) => collection);

type As = Awaited<ReturnType<typeof openAsUsers>>["as"];

/**
 * Opens the same database as several processes do, each with a separate store; requests go to
 * them in turn.
 */
async function openStores(
  url: string,
  count: number,
): Promise<{ readonly store: Store; readonly as: As; readonly turn: () => As }> {
  const stores: Store[] = [];
  for (let index = 0; index < count; index += 1) stores.push(await openStore(url, { collections }));
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  const apis = await Promise.all(stores.map((store) => openAsUsers(routes, { store })));
  let next = 0;
  const turn = (): As => (apis[(next += 1) % count] ?? expect.fail()).as;
  return { store: stores[0] ?? expect.fail(), as: turn(), turn };
}

const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

const tally = (answers: readonly Answer[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** SQLite is of one process at a time. */
const engines: readonly (readonly [string, () => Promise<string>, number])[] = [
  ["one process on SQLite", async () => `sqlite:${join(temporaryFolder(), "store.db")}`, 1],
  ...(noPostgres === undefined
    ? [["four processes on PostgreSQL", () => newDatabase(), 4] as const]
    : []),
];

describe.each(engines)("the clients of %s", (_engine, makeUrl, count) => {
  it("create one document of a unique value, no matter who tries", async () => {
    const { as, turn } = await openStores(await makeUrl(), count);
    const answers = await times(64, () => turn()("ann", "POST", "/people", { email: "a" }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 63 });
    expect((await as("", "GET", "/people")).json).toHaveLength(1);
  });

  it("do what one Idempotency-Key stands for once, and all give its answer", async () => {
    const { store, turn } = await openStores(await makeUrl(), count);
    const key = { "idempotency-key": "one-key" };
    const answers = await times(64, () => turn()("ann", "POST", "/people", { email: "a" }, key));
    expect(tally(answers)).toEqual({ 201: 64 });
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    expect(await store.collection(person.collection).count()).toBe(1);
  });

  it("lose no update, with If-Match and without", async () => {
    const { as, turn } = await openStores(await makeUrl(), count);
    const { id } = (await as("ann", "POST", "/people", { email: "a" })).json;
    const path = `/people/${id}`;
    const match = { "if-match": '"1"' };
    const guarded = await times(16, (visits) => turn()("ann", "PATCH", path, { visits }, match));
    expect(tally(guarded)).toEqual({ 200: 1, 412: 15 });
    const free = await times(16, (visits) => turn()("ann", "PATCH", path, { visits }));
    expect(tally(free)).toEqual({ 200: 16 });
    expect(new Set(free.map(({ headers }) => headers.get("etag"))).size).toBe(16);
    expect((await as("", "GET", path)).headers.get("etag")).toBe('"18"');
  });

  it("leave nothing that refers to what another one removes", async () => {
    const { as, store, turn } = await openStores(await makeUrl(), count);
    for (let round = 0; round < 8; round += 1) {
      const { id } = (await as("ann", "POST", "/people", { email: `${round}` })).json;
      const own = (await as("ann", "POST", "/cards", { text: "own" })).json.id;
      const body = { text: "a", person: id };
      const answers = await Promise.all([
        turn()("ann", "POST", "/cards", body),
        turn()("ann", "POST", "/cards", body, { "idempotency-key": `key-${round}` }),
        turn()("ann", "DELETE", `/people/${id}`),
        turn()("ann", "PUT", `/cards/${own}`, { person: id }),
        turn()("ann", "POST", "/cards/bulk", { operations: [{ op: "create", body }] }),
      ]);
      expect(answers[2]?.status).toBe(204);
      for (const { status } of answers) expect([200, 201, 204, 400, 404]).toContain(status);
      expect(await store.collection(card.collection).count({ where: { person: id } })).toBe(0);
    }
  });

  it("keep effect and record of a key together when one is killed", async () => {
    const url = await makeUrl();
    const last = await killWhileCreating(url);
    expect(last).toBeGreaterThanOrEqual(30);
    const { store, turn } = await openStores(url, count);
    for (let key = 0; key <= last; key += 1) {
      const header = { "idempotency-key": `key-${key}` };
      const { status } = await turn()("ann", "POST", "/notes", { text: `note ${key}` }, header);
      expect(status).toBe(201);
    }
    expect(await store.collection(note.collection).count()).toBe(last + 1);
  });
});

/**
 * Runs the process that creates notes under keys `0`, `1`, … until it is killed; returns the last
 * key that it began.
 */
async function killWhileCreating(url: string): Promise<number> {
  const child = fork(join(import.meta.dirname, "idempotent-creator.ts"), [url], {
    execArgv: ["--conditions=@fetchwork/source"],
  });
  let last = -1;
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("message", (key) => {
      last = Number(key);
      if (last === 30) child.kill("SIGKILL");
    });
    child.on("exit", () => resolve());
  });
  return last;
}
