import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createClient } from "../../src/client/index.ts";
import { createApi, defineResource, resourceRoutes } from "../../src/index.ts";
import { memoryStore, noAccounts } from "../api-client.ts";

const schema = z.object({ kind: z.string(), state: z.string(), text: z.string() });
const note = defineResource({
  name: "note",
  path: "/notes",
  schema,
  filter: ["kind", "state"],
  sort: ["text"],
  access: { list: "public" },
});
const counted = defineResource({
  name: "counted",
  path: "/counted",
  schema,
  filter: ["kind", "state"],
  list: { count: "exact" },
  access: { list: "public" },
});

/** More of each value than are read and sorted at once; only the three oldest notes have both. */
const count = 12_000;

async function open() {
  const store = await memoryStore();
  const notes = Array.from({ length: count }, (_, n) => ({
    kind: n < 3 || n % 2 === 0 ? "even" : "odd",
    state: n < 3 || n % 2 === 1 ? "odd" : "even",
    text: `note ${n}`,
  }));
  for (const { collection } of [note, counted]) {
    // In parts, which are created one after the other.
    for (let n = 0; n < count; n += 2000) {
      await store.collection(collection).insertMany(notes.slice(n, n + 2000));
    }
  }
  const api = createApi({
    title: "Test",
    version: "1.0.0",
    store,
    authentication: noAccounts(),
    routes: [...resourceRoutes(note), ...resourceRoutes(counted)],
  });
  const server = await serve(api.handler, { port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const client = createClient<typeof api>({ baseUrl: server.url });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return { client, url: server.url.replace(/\/$/, "") };
}

describe("A list whose conditions many documents have alone and few together", () => {
  it("ends early with a link that goes on to every hit", async () => {
    const { url } = await open();
    let next = "/notes?kind=even&state=odd";
    const texts: unknown[] = [];
    const partial: (string | null)[] = [];
    while (next !== "") {
      const response = await fetch(url + next);
      expect(response.status).toBe(200);
      partial.push(response.headers.get("x-result-partial"));
      if (partial.length === 1) {
        expect(response.headers.get("x-total-count")).toBe("0");
        expect(response.headers.get("x-total-count-capped")).toBe("true");
      }
      for (const { text } of (await response.json()) as { text: string }[]) texts.push(text);
      next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
    }
    expect(texts).toEqual(["note 2", "note 1", "note 0"]);
    expect(partial).toEqual(["true", null]);
  });

  it("is whole in another order, for values that many have, and where all are counted", async () => {
    const { url } = await open();
    for (const path of [
      "/notes?kind=even&state=odd&sort=text",
      "/notes?kind=even",
      "/notes",
      "/counted?kind=even&state=odd",
    ]) {
      const response = await fetch(url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.has("x-result-partial")).toBe(false);
      expect(await response.json()).not.toHaveLength(0);
    }
  });

  it("is read whole by pages and by queries of the client", async () => {
    const { client } = await open();
    const where = { kind: "even", state: "odd" } as const;
    const texts: string[] = [];
    for await (const { data } of client.notes.pages(where)) {
      texts.push(...data.map(({ text }) => text));
    }
    expect(texts).toEqual(["note 2", "note 1", "note 0"]);
    const first = await client.notes.query({ where });
    expect(first).toMatchObject({ data: [], total: 0, isTotalCapped: true });
    expect(first.header("x-result-partial")).toBe("true");
    const { data } = await client.notes.query(first.next ?? expect.fail("there is no next page"));
    expect(data.map(({ text }) => text)).toEqual(["note 2", "note 1", "note 0"]);
  });
});
