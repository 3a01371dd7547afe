import { describe, expect, it } from "vitest";
import {
  createWebMiddleware,
  memoryReplayStore,
  type ReplayStore,
  Webhooks,
} from "../src/index.ts";
import { slack } from "../src/vendors/index.ts";

const log = { warn: () => undefined, error: () => undefined };
const secret = "mysecret";

async function delivery(webhooks: Webhooks, payload: string, id = "1") {
  return { id, name: "push", payload, signature: await webhooks.sign(payload) };
}

describe("replay protection", () => {
  it("handles a delivery once, whatever its unsigned identifier and name say", async () => {
    const webhooks = new Webhooks({ secret, log, replay: true });
    let calls = 0;
    webhooks.onAny(() => (calls += 1));
    const sent = await delivery(webhooks, '{"a":1}');
    await webhooks.verifyAndReceive(sent);
    await webhooks.verifyAndReceive(sent);
    await webhooks.verifyAndReceive({ ...sent, id: "another", name: "issues" });
    expect(calls).toBe(1);
    await webhooks.verifyAndReceive(await delivery(webhooks, '{"a":2}'));
    expect(calls).toBe(2);
  });

  it.each(["await", "ack"] as const)("answers a handshake each time, with %s", async (mode) => {
    const webhooks = new Webhooks({ secret, log, vendor: slack, replay: true });
    const middleware = createWebMiddleware(webhooks, { mode });
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

  it("handles a delivery again after a handler failed", async () => {
    const webhooks = new Webhooks({ secret, log, replay: true });
    let calls = 0;
    webhooks.onAny(() => {
      calls += 1;
      if (calls === 1) throw new Error("once");
    });
    const sent = await delivery(webhooks, "{}");
    await expect(webhooks.verifyAndReceive(sent)).rejects.toThrow("once");
    await webhooks.verifyAndReceive(sent);
    await webhooks.verifyAndReceive(sent);
    expect(calls).toBe(2);
  });

  it("refuses a delivery with 409 while it is handled, so that the sender tries again", async () => {
    const webhooks = new Webhooks({ secret, log, replay: true });
    const gate = Promise.withResolvers<void>();
    webhooks.onAny(() => gate.promise);
    const sent = await delivery(webhooks, "{}");
    const first = webhooks.verifyAndReceive(sent);
    await expect(webhooks.verifyAndReceive(sent)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_RUNNING",
      status: 409,
    });
    gate.resolve();
    await first;
  });

  it("keeps senders with other secrets apart", async () => {
    const store = memoryReplayStore();
    const keys: string[] = [];
    const spy: ReplayStore = {
      ...store,
      claim: (key, lease) => (keys.push(key), store.claim(key, lease)),
    };
    for (const own of ["a", "b"]) {
      const webhooks = new Webhooks({ secret: own, log, replay: { store: spy } });
      await webhooks.verifyAndReceive(await delivery(webhooks, "{}"));
    }
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toMatch(/^vendor:[\da-f]{64}$/);
  });

  it("answers 503 when the store fails before the handlers, and only logs it after", async () => {
    const errors: unknown[] = [];
    const failing = async (): Promise<never> => Promise.reject(new Error("store"));
    const broken: ReplayStore = { claim: failing, complete: failing, release: failing };
    const webhooks = new Webhooks({ secret, log, replay: { store: broken } });
    await expect(webhooks.verifyAndReceive(await delivery(webhooks, "{}"))).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_REPLAY_STORE",
      status: 503,
    });
    const late = new Webhooks({
      secret,
      log: { error: (...all) => errors.push(all[1]) },
      replay: { store: { ...broken, claim: () => "new" } },
    });
    await late.verifyAndReceive(await delivery(late, "{}"));
    expect(errors).toMatchObject([{ message: "store" }]);
  });
});

describe("memoryReplayStore", () => {
  it("forgets a lease that ran out, and a delivery that was kept long enough", () => {
    let time = 0;
    const store = memoryReplayStore({ now: () => time });
    expect(store.claim("a", 10)).toBe("new");
    time = 9;
    expect(store.claim("a", 10)).toBe("running");
    time = 10;
    expect(store.claim("a", 10)).toBe("new");
    void store.complete("a", 100);
    time = 109;
    expect(store.claim("a", 10)).toBe("done");
    time = 110;
    expect(store.claim("a", 10)).toBe("new");
  });

  it("remembers so many at most, the newest", () => {
    const store = memoryReplayStore({ max: 3 });
    for (const key of ["a", "b", "c", "d"]) expect(store.claim(key, 1000)).toBe("new");
    expect(store.claim("d", 1000)).toBe("running");
    expect(store.claim("b", 1000)).toBe("running");
    expect(store.claim("a", 1000)).toBe("new");
  });
});
