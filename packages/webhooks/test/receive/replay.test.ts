import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createWebMiddleware,
  type ReplayOptions,
  type ReplayStore,
  type Vendor,
  Webhooks,
} from "../../src/index.ts";
import { memoryReplayStore } from "../../src/receive/memory-replay-store.ts";
import { fetchwork, github, shopify, slack, stripe, vendor } from "../../src/vendors/index.ts";

afterEach(() => vi.useRealTimers());

const log = { warn: () => undefined, error: () => undefined };
const secret = "mysecret";

/** A delivery as a vendor signs it. */
async function delivery(
  payload: string,
  {
    id = "1",
    name = "push",
    by = fetchwork,
    key = secret,
  }: {
    readonly id?: string;
    readonly name?: string;
    readonly by?: Vendor;
    readonly key?: string;
  } = {},
) {
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = await by.scheme.createKey(key).sign({ id, timestamp, body: payload });
  const { eventHeader, deliveryHeader } = by;
  const headers = {
    ...(eventHeader !== undefined && { [eventHeader]: name }),
    ...(deliveryHeader !== undefined && { [deliveryHeader]: id }),
    ...signed,
    "content-type": "application/json",
  };
  return { payload, headers };
}

/** A receiver that counts what it handles and keeps what it warns of. */
function counting(by: Vendor, replay: boolean | ReplayOptions) {
  const warnings: unknown[] = [];
  const handled: string[] = [];
  const warn = (message: unknown): void => void warnings.push(message);
  const webhooks = new Webhooks({ secret, vendor: by, replay, log: { ...log, warn } });
  webhooks.onAny(({ id, name }) => handled.push([name, id].join(" ")));
  return { webhooks, warnings, handled };
}

describe("replay protection", () => {
  it("A receiver drops a duplicate of a signed identifier, and reports it", async () => {
    const { webhooks, warnings, handled } = counting(fetchwork, true);
    await webhooks.verifyAndReceive(await delivery('{"a":1}'));
    expect(warnings).toEqual([]);
    await webhooks.verifyAndReceive(await delivery('{"a":1}', { name: "forged\n" }));
    expect(handled).toEqual(["push 1"]);
    expect(warnings).toEqual([
      "forged? event dropped (id: 1): its signed identifier was handled before",
    ]);
    await webhooks.verifyAndReceive(await delivery('{"a":1}', { id: "2" }));
    expect(handled).toEqual(["push 1", "push 2"]);
  });

  it("A receiver responds to a duplicate visibly", async () => {
    const { webhooks } = counting(fetchwork, true);
    const middleware = createWebMiddleware(webhooks);
    const texts: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const { payload: body, headers } = await delivery("{}");
      const init = { method: "POST", headers, body };
      const response = await middleware(new Request(`http://x${fetchwork.path}`, init));
      texts.push(`${response.status} ${await response.text()}`);
    }
    expect(texts).toEqual(["200 ok\n", "200 handled before\n"]);
  });

  it.each([vendor, github, shopify])(
    "A receiver handles each delivery of a vendor that signs only the body, and warns: %s",
    async (by) => {
      const { webhooks, warnings, handled } = counting(by, true);
      expect(warnings).toEqual([expect.stringContaining("has no effect for the vendor")]);
      const sent = await delivery("{}", { by });
      await webhooks.verifyAndReceive(sent);
      await webhooks.verifyAndReceive(sent);
      expect(handled.length).toBe(2);
      expect(warnings.length).toBe(1);
    },
  );

  it("dropEqualBodiesFor drops equal bodies for its time, and warns of each", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const store = memoryReplayStore();
    const replay = { store, dropEqualBodiesFor: 1000 };
    const { webhooks, warnings, handled } = counting(github, replay);
    const receive = async (payload: string, id: string): Promise<void> =>
      webhooks.verifyAndReceive(await delivery(payload, { id, by: github }));
    await receive("{}", "1");
    vi.setSystemTime(999);
    await receive("{}", "2");
    await receive('{"a":1}', "3");
    vi.setSystemTime(1000);
    await receive("{}", "4");
    expect(handled).toEqual(["push 1", "push 3", "push 4"]);
    expect(warnings).toEqual(["push event dropped (id: 2): an equal body was handled before"]);
  });

  it.each([
    [stripe, '{"id":"evt_1","type":"a","n":1}', '{"id":"evt_1","type":"a","n":2}'],
    [
      slack,
      '{"type":"event_callback","event_id":"Ev1","event":{"type":"a"},"n":1}',
      '{"type":"event_callback","event_id":"Ev1","event":{"type":"a"},"n":2}',
    ],
  ])(
    "A receiver identifies a delivery by the identifier in its signed body: %s",
    async (by, first, second) => {
      const { webhooks, handled } = counting(by, true);
      await webhooks.verifyAndReceive(await delivery(first, { by }));
      await webhooks.verifyAndReceive(await delivery(second, { by }));
      expect(handled.length).toBe(1);
      const other = first.replace(/(evt_|Ev)1/, "$12");
      await webhooks.verifyAndReceive(await delivery(other, { by }));
      expect(handled.length).toBe(2);
    },
  );

  it("A receiver handles a delivery without an identifier each time", async () => {
    const { webhooks, handled } = counting(slack, true);
    const sent = await delivery('{"type":"view_closed"}', { by: slack });
    await webhooks.verifyAndReceive(sent);
    await webhooks.verifyAndReceive(sent);
    expect(handled.length).toBe(2);
  });

  it.each([
    { dropEqualBodiesFor: 0 },
    { dropEqualBodiesFor: Infinity },
    // The scheme signs an identifier.
    { dropEqualBodiesFor: 1000 },
    { keepFor: 0 },
    { store: {} },
    { store: null },
  ])("A Webhooks refuses the replay options %j", (replay) => {
    const options = { secret, vendor: fetchwork, log, replay: replay as ReplayOptions };
    expect(() => new Webhooks(options)).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
    );
  });

  it("A receiver responds to a handshake each time", async () => {
    const webhooks = new Webhooks({ secret, log, vendor: slack, replay: true });
    const middleware = createWebMiddleware(webhooks);
    const body = JSON.stringify({ type: "url_verification", challenge: "abc" });
    const timestamp = Math.floor(Date.now() / 1000);
    const signed = await slack.scheme.createKey(secret).sign({ id: "1", timestamp, body });
    for (let n = 0; n < 2; n += 1) {
      const headers = { ...signed, "content-type": "application/json" };
      const request = new Request(`http://x${slack.path}`, { method: "POST", headers, body });
      const response = await middleware(request);
      expect([response.status, await response.text()]).toEqual([200, "abc"]);
    }
  });

  it("A receiver handles a delivery again after a handler failed", async () => {
    const webhooks = new Webhooks({ secret, vendor: fetchwork, log, replay: true });
    let calls = 0;
    webhooks.onAny(() => {
      calls += 1;
      if (calls === 1) throw new Error("once");
    });
    const sent = await delivery("{}");
    await expect(webhooks.verifyAndReceive(sent)).rejects.toThrow("once");
    await webhooks.verifyAndReceive(sent);
    await webhooks.verifyAndReceive(sent);
    expect(calls).toBe(2);
  });

  it("A receiver responds with 409 while the same delivery is handled, so that the sender retries", async () => {
    const webhooks = new Webhooks({ secret, vendor: fetchwork, log, replay: true });
    const gate = Promise.withResolvers<void>();
    webhooks.onAny(() => gate.promise);
    const sent = await delivery("{}");
    const first = webhooks.verifyAndReceive(sent);
    await expect(webhooks.verifyAndReceive(sent)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_RUNNING",
      status: 409,
    });
    gate.resolve();
    await first;
  });

  it("A receiver warns of a repetition that comes while the delivery is handled, without a stack", async () => {
    const { webhooks, warnings } = counting(fetchwork, true);
    const gate = Promise.withResolvers<void>();
    webhooks.onAny(() => gate.promise);
    const middleware = createWebMiddleware(webhooks);
    const { payload: body, headers } = await delivery("{}");
    const request = (): Request =>
      new Request(`http://x${fetchwork.path}`, { method: "POST", headers, body });
    const first = middleware(request());
    expect((await middleware(request())).status).toBe(409);
    expect(warnings).toEqual(["this delivery is being handled"]);
    gate.resolve();
    expect((await first).status).toBe(200);
  });

  it("Deliveries with different secrets are never duplicates of each other", async () => {
    const store = memoryReplayStore();
    const keys: string[] = [];
    const spy: ReplayStore = {
      ...store,
      claim: (key, lease) => (keys.push(key), store.claim(key, lease)),
    };
    for (const own of ["a", "b"]) {
      const options = { secret: own, vendor: fetchwork, log, replay: { store: spy } };
      const webhooks = new Webhooks(options);
      await webhooks.verifyAndReceive(await delivery("{}", { key: own }));
    }
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toMatch(/^fetchwork:[\da-f]{64}$/);
  });

  it("A receiver responds with 503 when the store fails before the handlers, and logs it afterwards", async () => {
    const errors: unknown[] = [];
    const failing = async (): Promise<never> => Promise.reject(new Error("store"));
    const broken: ReplayStore = { claim: failing, complete: failing, release: failing };
    const webhooks = new Webhooks({ secret, vendor: fetchwork, log, replay: { store: broken } });
    await expect(webhooks.verifyAndReceive(await delivery("{}"))).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_REPLAY_STORE",
      status: 503,
    });
    const late = new Webhooks({
      secret,
      vendor: fetchwork,
      log: { error: (...all) => errors.push(all[1]) },
      replay: { store: { ...broken, claim: () => "new" } },
    });
    await late.verifyAndReceive(await delivery("{}"));
    expect(errors).toMatchObject([{ message: "store" }]);
  });
});

describe("memoryReplayStore", () => {
  it("memoryReplayStore() forgets an expired lease and an expired delivery", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const store = memoryReplayStore();
    expect(store.claim("a", 10)).toBe("new");
    vi.setSystemTime(9);
    expect(store.claim("a", 10)).toBe("running");
    vi.setSystemTime(10);
    expect(store.claim("a", 10)).toBe("new");
    void store.complete("a", 100);
    vi.setSystemTime(109);
    expect(store.claim("a", 10)).toBe("done");
    vi.setSystemTime(110);
    expect(store.claim("a", 10)).toBe("new");
  });

  it("memoryReplayStore() remembers the newest 100,000 deliveries", () => {
    const store = memoryReplayStore();
    for (let key = 0; key <= 100_000; key += 1) void store.claim(String(key), 60_000);
    expect(store.claim("100000", 60_000)).toBe("running");
    expect(store.claim("1", 60_000)).toBe("running");
    expect(store.claim("0", 60_000)).toBe("new");
  });
});
