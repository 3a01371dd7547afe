import { randomUUID } from "node:crypto";
import { createContext, json } from "@fetchwork/http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createAuthentication } from "../../src/accounts/create-authentication.ts";
import { type ApiOptions, createApi } from "../../src/http/api.ts";
import { idempotencyRecords } from "../../src/http/idempotency/idempotency-record.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute, type Route } from "../../src/plan/route.ts";
import { Problem } from "../../src/problem.ts";
import type { Call } from "../../src/resource/call.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { masterKey, memoryStore } from "../api-client.ts";

const users = ["ann", "bob"].map((id) => ({
  id,
  role: "user",
  passwordHash: "",
  sessionVersion: 1,
}));

/** What has changed of users during a test. */
const changed = new Map<string, { readonly role: string }>();

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1), deep: z.unknown().optional() }),
  access: { list: "public", show: "public", create: "user" },
});

function custom(handle: (call: Call) => Promise<Response> | Response, atomic?: boolean): Route {
  return defineRoute({
    method: "POST",
    path: "/custom",
    operation: "custom",
    summary: "x",
    tag: "x",
    access: "public",
    atomic,
    responses: { 201: { description: "x" } },
    handle,
  });
}

async function open(routes: readonly Route[] = [], options: Partial<ApiOptions> = {}) {
  const store = options.store ?? (await memoryStore());
  const authentication = createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (wanted) => {
        const found = users.find(({ id }) => id === wanted);
        return found && { ...found, ...changed.get(wanted) };
      },
      byEmail: async () => undefined,
    },
  });
  const all = [...resourceRoutes(note, createResourceController(note)), ...routes];
  const api = createApi({
    title: "T",
    version: "1",
    ...options,
    store,
    authentication,
    routes: all,
  });
  const tokens = new Map<string, string>();
  for (const user of users) tokens.set(user.id, await authentication.tokens.issue(user));
  const post = async (
    key: string | undefined,
    body: unknown,
    { as = "ann", path = "/notes" }: { as?: string | undefined; path?: string } = {},
  ) => {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(as === "" ? {} : { authorization: `Bearer ${tokens.get(as) ?? as}` }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const response = await api.handler(request, createContext(request));
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Record<string, unknown>,
    };
  };
  const count = () => store.collection(note.collection).count();
  return { post, count, store, token: (id: string) => tokens.get(id) ?? "" };
}

describe("a POST with Idempotency-Key", () => {
  it.each(["", '"', '"a', "a b", "ä", "x".repeat(256)])("refuses the key %j", async (key) => {
    const { post, count } = await open();
    const refused = await post(key, { text: "a" });
    expect(refused.json).toMatchObject({ status: 400, param: "Idempotency-Key", name: "match" });
    expect(await count()).toBe(0);
  });

  it("refuses another request under the same key, and does nothing", async () => {
    const { post, count } = await open([custom(() => json({}, { status: 201 }))]);
    await post("key-1", { text: "a" });
    expect((await post("key-1", { text: "b" })).status).toBe(422);
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(422);
    expect((await post("key-1", { text: "a" }, { path: "/notes?fields=x" })).status).toBe(400);
    expect(await count()).toBe(1);
  });

  it("refuses who may not do it before it looks at the key", async () => {
    const { post } = await open();
    await post("key-1", { text: "a" });
    expect((await post("key-1", { text: "a" }, { as: "" })).status).toBe(401);
    expect((await post("key-1", { text: "a" }, { as: "wrong" })).status).toBe(401);
  });

  it("answers a repetition with status, headers and body of the first", async () => {
    const { post, count } = await open();
    const first = await post("key-1", { text: "a" });
    const again = await post('"key-1"', { text: "a" });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.json).toEqual(first.json);
    for (const name of ["etag", "location", "content-type", "cache-control", "vary"]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(first.headers.has("idempotency-replayed")).toBe(false);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await count()).toBe(1);
  });

  it("keeps the response to the master key from callers without it", async () => {
    const route = custom(({ isMaster }) => json({ isMaster }, { status: isMaster ? 201 : 401 }));
    const { post } = await open([route]);
    const asked = await post("key-1", {}, { as: masterKey, path: "/custom" });
    expect([asked.status, asked.json]).toEqual([201, { isMaster: true }]);
    const repeated = await post("key-1", {}, { as: "", path: "/custom" });
    expect([repeated.status, repeated.json]).toEqual([401, { isMaster: false }]);
  });

  it("keeps the keys of each caller apart", async () => {
    const { post, count } = await open();
    const ann = await post("key-1", { text: "a" });
    const bob = await post("key-1", { text: "a" }, { as: "bob" });
    expect(bob.json["id"]).not.toBe(ann.json["id"]);
    expect(await count()).toBe(2);
  });

  it("refuses a caller whose role has changed since, and does nothing", async () => {
    const { post, count } = await open();
    await post("key-1", { text: "a" });
    changed.set("ann", { role: "admin" });
    onTestFinished(() => changed.clear());
    expect((await post("key-1", { text: "a" })).status).toBe(422);
    expect(await count()).toBe(1);
  });

  it("has one effect when 64 clients repeat it at once", async () => {
    const { post, count } = await open();
    const all = await Promise.all(Array.from({ length: 64 }, () => post("key-1", { text: "a" })));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(all.map(({ json: { id } }) => id)).size).toBe(1);
    expect(all.filter(({ headers }) => !headers.has("idempotency-replayed"))).toHaveLength(1);
    expect(await count()).toBe(1);
  });

  it("does not keep a refusal, which has changed nothing", async () => {
    const { post, count } = await open();
    expect((await post("key-1", { text: "" })).status).toBe(400);
    expect((await post("key-1", { text: "a" })).status).toBe(201);
    expect(await count()).toBe(1);
  });

  it("takes no part in the fingerprint of a token in the body, which may have changed", async () => {
    const { post, token } = await open();
    const body = (text: string) => ({ text, access_token: token("ann") });
    const first = await post("key-1", body("a"), { as: "" });
    const again = await post("key-1", { text: "a" });
    expect(again.json).toEqual(first.json);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  it("refuses a body with more levels than can be written", async () => {
    const { post } = await open([], { maxBodySize: 1_000_000 });
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const refused = await post("key-1", `{"text":"a","deep":${deep}}`);
    expect(refused.status).toBe(400);
  });

  it.each([true, false])("counts for 24 hours (atomic: %s)", async (atomic) => {
    const handle = vi.fn(() => json({}, { status: 201 }));
    const { post } = await open([custom(handle, atomic)]);
    const send = () => post("key-1", {}, { path: "/custom", as: "" });
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    await send();
    vi.setSystemTime(Date.now() + 86_399_000);
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
    expect(handle).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 2_000);
    expect((await send()).status).toBe(201);
    expect(handle).toHaveBeenCalledTimes(2);
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("the record of a POST", () => {
  it("shows neither key nor request nor answer to who reads the store", async () => {
    const secret = custom(() => json({ token: "s3cret-answer" }, { status: 201 }));
    const { post, store } = await open([secret]);
    await post("s3cret-key", { password: "s3cret-password" }, { path: "/custom" });
    const [record] = await store.collection(idempotencyRecords).find();
    expect(record?.response).toBeTypeOf("string");
    const text = `${JSON.stringify(record)}${Buffer.from(record?.response ?? "", "base64").toString("latin1")}`;
    expect(text).not.toMatch(/s3cret/);
  });

  it("does not open for another key, nor when it was changed", async () => {
    const reportError = vi.fn();
    const routes = [custom(() => json(1, { status: 201 }))];
    const { post, store } = await open(routes, { reportError });
    await post("key-1", {}, { path: "/custom" });
    const records = store.collection(idempotencyRecords);
    const [record] = await records.find();
    const answer = record?.response ?? "";
    await records.update(record?.id ?? "", { response: `${answer.slice(0, -4)}AAAA` });
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(500);
    expect(reportError).toHaveBeenCalledOnce();
  });

  it("of an answer with no-store needs a key that nobody guesses", async () => {
    const headers = { "cache-control": "no-store" };
    const handle = vi.fn(() => json({ token: "t" }, { status: 201, headers }));
    const { post } = await open([custom(handle)]);
    const at = { path: "/custom" };
    expect((await post("short", {}, at)).json).toEqual({ token: "t" });
    expect((await post("short", {}, at)).status).toBe(409);
    const key = randomUUID();
    expect((await post(key, {}, at)).json).toEqual((await post(key, {}, at)).json);
    expect(handle).toHaveBeenCalledTimes(2);
  });

  it("holds no answer of more than a megabyte, and the repetition is a 409", async () => {
    const handle = vi.fn(() => json("x".repeat(1_100_000), { status: 201 }));
    const { post } = await open([custom(handle)]);
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(201);
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(409);
    expect(handle).toHaveBeenCalledOnce();
  });
});

describe.each([
  ["in one transaction", true],
  ["with a lease", false],
])("a handler %s", (_how, atomic) => {
  const insert = async ({ store }: Call): Promise<Response> => {
    const documents = store.collection(note.collection);
    const { id } = await store.transaction((transaction) =>
      transaction.collection(note.collection).insert({ text: "a" }),
    );
    await documents.insert({ text: "b" });
    return json({ id, all: await documents.count() }, { status: 201 });
  };

  it("runs once, with the store as it knows it", async () => {
    const { post, count } = await open([custom(insert, atomic)]);
    const first = await post("key-1", {}, { path: "/custom" });
    expect(first.json).toMatchObject({ all: 2 });
    expect((await post("key-1", {}, { path: "/custom" })).json).toEqual(first.json);
    expect(await count()).toBe(2);
  });

  it("leaves the key free when it throws or answers with a status that may pass", async () => {
    const answers = [
      () => Promise.reject(new Problem(409, { detail: "later" })),
      () => Promise.reject(new Error("broken")),
      () => json({}, { status: 503 }),
      () => json({}, { status: 429 }),
      () => json({ done: true }, { status: 201 }),
    ];
    const handle = async () => (await answers.shift()?.()) ?? json({ more: true });
    const { post } = await open([custom(handle, atomic)], { reportError: () => undefined });
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await post("key-1", {}, { path: "/custom" })).status);
    }
    expect(statuses).toEqual([409, 500, 503, 429, 201, 201]);
  });

  it("runs once when many repeat at once; the others have the answer or are told to wait", async () => {
    const { post, count } = await open([custom(insert, atomic)]);
    const all = await Promise.all(
      Array.from({ length: 16 }, () => post("key-1", {}, { path: "/custom" })),
    );
    const statuses = new Set(all.map(({ status }) => status));
    expect([...statuses].every((status) => status === 201 || (!atomic && status === 409))).toBe(
      true,
    );
    expect(await count()).toBe(2);
  });
});

describe("a handler in a transaction", () => {
  it("undoes its changes when it throws", async () => {
    const handle = async ({ store }: Call): Promise<Response> => {
      await store.collection(note.collection).insert({ text: "a" });
      throw new Problem(409);
    };
    const { post, count } = await open([custom(handle, true)]);
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(409);
    expect(await count()).toBe(0);
  });

  it.each([undefined, "key-1"])(
    "keeps nothing of its transaction that failed, when it answers with a refusal (key: %s)",
    async (key) => {
      const route = custom(async ({ store }) => {
        try {
          await store.transaction(async (transaction) => {
            await transaction.collection(note.collection).insert({ text: "sold" });
            throw new Error("sold out");
          });
        } catch {
          return new Problem(409, { detail: "sold out" }).toResponse();
        }
        return json({}, { status: 201 });
      }, true);
      const { post, count } = await open([route]);
      const { status, json: body } = await post(key, {}, { path: "/custom" });
      expect([status, body["detail"]]).toEqual([409, "sold out"]);
      expect(await count()).toBe(0);
    },
  );

  it("fails when its own transaction failed and it answers as if not", async () => {
    const route = custom(async ({ store }) => {
      await store
        .transaction(async (transaction) => {
          await transaction.collection(note.collection).insert({ text: "sold" });
          throw new Error("sold out");
        })
        .catch(() => undefined);
      return json({}, { status: 201 });
    }, true);
    const { post, count } = await open([route], { reportError: () => undefined });
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(500);
    expect(await count()).toBe(0);
  });

  it("does what follows the commit after it, and once", async () => {
    const seen: number[] = [];
    const handle = async ({ store, afterCommit }: Call): Promise<Response> => {
      await store.collection(note.collection).insert({ text: "a" });
      afterCommit?.(async () => void seen.push(await outer.collection(note.collection).count()));
      return json({}, { status: 201 });
    };
    const outer = await memoryStore();
    const { post } = await open([custom(handle, true)], { store: outer });
    await post("key-1", {}, { path: "/custom" });
    await post("key-1", {}, { path: "/custom" });
    expect(seen).toEqual([1]);
  });
});

describe("a handler with a lease", () => {
  it("that never ended lets a repetition run after five minutes", async () => {
    const handle = vi.fn(() => json({}, { status: 201 }));
    handle.mockImplementationOnce(() => new Promise<Response>(() => undefined) as never);
    const { post } = await open([custom(handle, false)]);
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    void post("key-1", {}, { path: "/custom" });
    await expect.poll(() => handle).toHaveBeenCalled();
    const early = await post("key-1", {}, { path: "/custom" });
    expect([early.status, early.headers.get("retry-after")]).toEqual([409, "1"]);
    vi.setSystemTime(Date.now() + 301_000);
    expect((await post("key-1", {}, { path: "/custom" })).status).toBe(201);
  });
});

describe("a handler that outlives its lease", () => {
  it.each(["throws", "answers 503"])(
    "frees no key that another one has in the meantime: it %s",
    async (end) => {
      const late = Promise.withResolvers<Response>();
      const handle = vi.fn(() => json({ done: true }, { status: 201 }));
      handle.mockImplementationOnce(() => late.promise as never);
      const { post } = await open([custom(handle, false)], { reportError: () => undefined });
      const send = () => post("key-1", {}, { path: "/custom" });
      vi.useFakeTimers({ toFake: ["Date"] });
      onTestFinished(() => void vi.useRealTimers());
      const first = send();
      await expect.poll(() => handle).toHaveBeenCalledOnce();
      vi.setSystemTime(Date.now() + 301_000);
      expect((await send()).status).toBe(201);
      if (end === "throws") late.reject(new Error("too late"));
      else late.resolve(json({}, { status: 503 }));
      expect((await first).status).toBeGreaterThanOrEqual(500);
      expect((await send()).json).toEqual({ done: true });
      expect(handle).toHaveBeenCalledTimes(2);
    },
  );
});

describe("a POST that others repeat at the same moment", () => {
  const seat = defineResource({
    name: "seat",
    path: "/seats",
    schema: z.object({ number: z.int() }),
    access: { create: "user", restore: "user", remove: "user" },
    unique: ["number"],
    softDelete: true,
  });
  const seats = resourceRoutes(seat, createResourceController(seat));

  it("sends all of them the answer, though the value that it takes is unique", async () => {
    const { post } = await open(seats);
    for (let number = 0; number < 5; number += 1) {
      const all = await Promise.all(
        Array.from({ length: 12 }, () => post(`key-${number}`, { number }, { path: "/seats" })),
      );
      expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
      expect(new Set(all.map(({ json: { id } }) => id)).size).toBe(1);
    }
  });

  it("returns the answer of the one that was done while this one was refused", async () => {
    let other: Promise<{ json: unknown }> | undefined;
    let isFirst = true;
    const taken = custom(() => {
      if (!isFirst) return json({ done: true }, { status: 201 });
      isFirst = false;
      throw new Error("a failure");
    }, true);
    const store = await memoryStore();
    const racing = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "transaction" || typeof value !== "function") {
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        }
        return async (...given: unknown[]): Promise<unknown> => {
          try {
            return await Reflect.apply(value, target, given);
          } catch (error) {
            // The transaction is over, and another process has its turn.
            other ??= post("key-1", {}, { path: "/custom" });
            await other;
            throw error;
          }
        };
      },
    });
    const { post } = await open([taken], { store: racing, reportError: () => undefined });
    const answer = await post("key-1", {}, { path: "/custom" });
    expect(answer).toMatchObject({ status: 201, json: { done: true } });
    expect(answer.headers.get("idempotency-replayed")).toBe("true");
  });
});
