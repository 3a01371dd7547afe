import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openStore, type Store } from "@fetchwork/documents";
import {
  createLambdaHandler,
  createNodeMiddleware,
  createWebMiddleware,
  signRequest,
  simulate,
  WebhookUsageError,
} from "@fetchwork/webhooks";
import { fetchwork, github, slack } from "@fetchwork/webhooks/vendors";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  book,
  openInbox,
  payments,
  secret,
  storeWith,
  untilHandled,
  waiting,
} from "./open-inbox.ts";

const order = { vendor: fetchwork, secret, name: "order.paid", payload: { total: 12 } } as const;

let store: Store;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
});

afterEach(() => store.close());

describe("An inbox refuses", () => {
  it.each([
    ["a signature by another secret", 400, { secret: "another secret" }],
    ["an old timestamp", 400, { timestamp: 1 }],
    ["a body that is not JSON", 400, { payload: "{" }],
    ["a body that is too large", 413, { payload: { text: "x".repeat(2000) } }],
    ["an event without a name", 400, { name: "" }],
  ])("%s with %s, and stores nothing", async (_, status, change) => {
    const receive = createWebMiddleware(openInbox(store), { maxBody: 1000 });
    expect((await receive(await signRequest({ ...order, ...change }))).status).toBe(status);
    expect(await waiting(store)).toBe(0);
  });

  it("an event that a document cannot hold with 413", async () => {
    const large = { text: "x".repeat(8_000_000) };
    expect((await simulate(openInbox(store), "order.paid", large)).status).toBe(413);
    expect(await waiting(store)).toBe(0);
  });

  it("a delivery with 503 while the store fails, and stores it when the sender retries", async () => {
    let failure: Error | undefined = new Error("the disk is full");
    const inbox = openInbox(storeWith(store, () => failure && Promise.reject(failure)));
    const onError = vi.fn();
    inbox.onError(onError);
    expect((await simulate(inbox, "order.paid", {}, { id: "e1" })).status).toBe(503);
    expect(onError.mock.calls).toMatchObject([[{ code: "ERR_WEBHOOKS_REPLAY_STORE" }]]);
    failure = undefined;
    expect((await simulate(inbox, "order.paid", {}, { id: "e1" })).status).toBe(202);
    expect(await waiting(store)).toBe(1);
  });

  it("a delivery with 503 when the store takes longer than the timeout", async () => {
    const inbox = openInbox(storeWith(store, () => new Promise(() => undefined)));
    const receive = createWebMiddleware(inbox, { timeout: 20 });
    expect((await receive(await signRequest(order))).status).toBe(503);
  });

  const ofWebhooks = { replay: true, retries: 1 };

  it.each([
    ["store", { store: {} as Store }],
    ["name", { name: "Not A Name" }],
    ["key", { key: "customer" as never }],
    ["dropEqualBodiesFor", { dropEqualBodiesFor: 1000 }],
    ["replay", ofWebhooks],
    ["secret", { secret: "" }],
  ])("the option %s when it is invalid", (option, options) => {
    expect(() => openInbox(store, options)).toThrow(WebhookUsageError);
    expect(() => openInbox(store, options)).toThrow(option);
  });
});

describe("A delivery to an inbox", () => {
  it("is durable before it is acknowledged, and handled after the start", async () => {
    const inbox = openInbox(store);
    book(inbox);
    const response = await simulate(inbox, "order.paid", { total: 12 }, { id: "e1" });
    expect([response.status, await response.text()]).toEqual([202, "accepted\n"]);
    expect(await waiting(store)).toBe(1);
    inbox.start();
    await untilHandled(store, 1);
    expect(await store.collection(payments).find()).toMatchObject([{ event: "e1", total: 12 }]);
  });

  it("is stored once, however often and from whichever receiver it comes", async () => {
    const inbox = openInbox(store);
    book(inbox);
    const request = await signRequest({ ...order, id: "e1" });
    const body = await request.clone().text();
    const web = createWebMiddleware(inbox);
    const receives = Array.from({ length: 5 }, () => web(request.clone()));
    expect((await Promise.all(receives)).map(({ status }) => status)).toEqual(Array(5).fill(202));
    const headers = Object.fromEntries(request.headers);
    const lambda = createLambdaHandler(inbox);
    const event = { httpMethod: "POST", path: fetchwork.path, headers, body };
    expect((await lambda(event)).statusCode).toBe(202);
    const receive = createNodeMiddleware(inbox);
    const server = createServer((incoming, response) => void receive(incoming, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${fetchwork.path}`;
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(202);
    server.closeAllConnections();
    server.close();
    expect(await waiting(store)).toBe(1);
    inbox.start();
    await untilHandled(store, 1);
    expect((await simulate(inbox, "order.paid", { total: 12 }, { id: "e1" })).status).toBe(202);
    expect(await waiting(store)).toBe(0);
    expect(await store.collection(payments).count()).toBe(1);
  });

  it("is the same when the secret changes between two attempts, unless secrets are of tenants", async () => {
    const resend = async (options: object): Promise<number> => {
      const inbox = openInbox(store, options);
      await createWebMiddleware(inbox)(await signRequest({ ...order, id: "e1" }));
      await createWebMiddleware(inbox)(
        await signRequest({ ...order, id: "e1", secret: "new one" }),
      );
      return waiting(store);
    };
    expect(await resend({ secret: ["new one", secret] })).toBe(1);
    expect(await resend({ secret: () => ["new one", secret], name: "tenants" })).toBe(3);
  });

  it("of a vendor that signs no identifier is stored each time, unless equal bodies are dropped", async () => {
    const each = openInbox(store, { vendor: github });
    await simulate(each, "push", { ref: "a" }, { id: "d1" });
    await simulate(each, "push", { ref: "a" }, { id: "d1" });
    expect(await waiting(store)).toBe(2);
    const warn = vi.fn();
    const options = { vendor: github as never, dropEqualBodiesFor: 60_000, log: { warn } };
    const some = openInbox(store, { ...options, name: "equal-bodies" });
    await simulate(some, "push", { ref: "a" }, { id: "d1" });
    await simulate(some, "push", { ref: "a" }, { id: "d2" });
    await simulate(some, "push", { ref: "b" }, { id: "d3" });
    expect(await waiting(store)).toBe(4);
    expect(warn.mock.calls).toEqual([["push event dropped (id: d2): it is stored already"]]);
  });

  it("keeps what JSON can say and documents cannot", async () => {
    const inbox = openInbox(store);
    const seen: unknown[] = [];
    inbox.onAny(({ payload }) => seen.push(payload));
    const payload = JSON.parse('{"a":"\\u0000\\ud800","__proto__":{"b":1}}') as object;
    await simulate(inbox, "odd", payload);
    inbox.start();
    await untilHandled(store, 1);
    expect(seen).toEqual([payload]);
    expect(Object.hasOwn(seen[0] as object, "__proto__")).toBe(true);
  });

  it("that is a handshake is answered at once", async () => {
    const inbox = openInbox(store, { vendor: slack });
    const challenge = { type: "url_verification", challenge: "c1" };
    const response = await simulate(inbox, "url_verification", challenge);
    expect([response.status, await response.text()]).toEqual([200, "c1"]);
  });

  it("may come from another source, unverified", async () => {
    const inbox = openInbox(store);
    book(inbox);
    inbox.start();
    await expect(inbox.receive({ id: "", name: "", payload: {} })).rejects.toThrow("name");
    await inbox.receive({ id: "e1", name: "order.paid", payload: { total: 3 } });
    await untilHandled(store, 1);
    expect(await store.collection(payments).count()).toBe(1);
  });
});

describe("A handler of an inbox", () => {
  it("undoes what it wrote when it throws, and is called again", async () => {
    const inbox = openInbox(store);
    const attempts: number[] = [];
    const onError = vi.fn();
    inbox.onError(onError);
    book(inbox);
    inbox.onAny(async (event, { attempt, signal }) => {
      attempts.push(attempt);
      expect(signal.aborted).toBe(false);
      if (attempt < 3) throw new Error(`not yet: ${event.id}`);
    });
    inbox.start();
    await simulate(inbox, "order.paid", { total: 12 }, { id: "e1" });
    await untilHandled(store, 1);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await store.collection(payments).find()).toMatchObject([{ event: "e1", total: 12 }]);
    expect(onError.mock.calls).toMatchObject([
      [{ code: "ERR_WEBHOOKS_HANDLER", message: "not yet: e1" }],
      [{ code: "ERR_WEBHOOKS_HANDLER", message: "not yet: e1" }],
    ]);
  });

  it("that always fails leaves a dead delivery, which is listed and replayed", async () => {
    let isBroken = true;
    const inbox = openInbox(store, { retries: 1 });
    inbox.onAny(() => {
      if (isBroken) throw new Error("broken");
    });
    inbox.start();
    for (const id of ["e1", "e2", "e3"]) await simulate(inbox, "a", { id }, { id });
    const dead = async (): Promise<number> => (await inbox.deadLetters()).items.length;
    await expect.poll(dead, { interval: 5 }).toBe(3);
    const { items, next } = await inbox.deadLetters({ limit: 1 });
    expect(items).toMatchObject([{ failures: 2, error: { message: "broken" } }]);
    expect(items[0]?.event).toEqual({ id: "e1", name: "a", payload: { id: "e1" } });
    expect(next).toBeDefined();
    isBroken = false;
    expect(await inbox.replay("unknown")).toBe(false);
    expect(await inbox.replay(items[0]?.id ?? "")).toBe(true);
    await untilHandled(store, 1);
    // The sender's own replay counts, too.
    await simulate(inbox, "a", { id: "e2" }, { id: "e2" });
    await untilHandled(store, 2);
    expect(await inbox.replayAll()).toBe(1);
    await untilHandled(store, 3);
    expect(await dead()).toBe(0);
  });

  it("is aborted when the inbox stops, and its delivery waits for the next start", async () => {
    const inbox = openInbox(store);
    const started = Promise.withResolvers<AbortSignal>();
    inbox.onAny((_, { signal }) => {
      started.resolve(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      });
    });
    inbox.start();
    await simulate(inbox, "order.paid", { total: 1 });
    const signal = await started.promise;
    await inbox.stop({ grace: 10 });
    inbox.start();
    expect(signal.aborted).toBe(true);
    const next = openInbox(store);
    book(next);
    next.start();
    await untilHandled(store, 1);
    expect(await store.collection(payments).count()).toBe(1);
  });

  it("gets the events of a key in their order, also when one is retried", async () => {
    const inbox = openInbox(store, { key: ({ payload }) => String(payload["account"]) });
    const seen: string[] = [];
    let failures = 0;
    inbox.onAny(({ payload }) => {
      if (payload["n"] === 1 && (failures += 1) < 3) throw new Error("not yet");
      seen.push(`${String(payload["account"])}${String(payload["n"])}`);
    });
    inbox.start();
    for (let n = 0; n < 4; n += 1) {
      await simulate(inbox, "a", { account: "x\0", n });
      await simulate(inbox, "a", { account: "y", n });
    }
    await untilHandled(store, 8);
    for (const account of ["x\0", "y"]) {
      const own = seen.filter((each) => each.startsWith(account));
      expect(own).toEqual([0, 1, 2, 3].map((n) => `${account}${n}`));
    }
  });
});
