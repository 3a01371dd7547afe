import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWebMiddleware, Webhooks } from "../../src/index.ts";
import { UnverifiedBudget } from "../../src/receive/unverified-budget.ts";
import { delivery } from "../receivers.ts";

const limits = { maxSize: 1_000, timeout: Infinity };
const log = { warn: () => undefined, error: () => undefined };

describe("UnverifiedBudget", () => {
  it("An UnverifiedBudget never counts more than its maximum, and nothing after all bodies are closed", () => {
    const step = fc.record({ body: fc.nat(4), size: fc.nat(120), settles: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new UnverifiedBudget(200);
        const bodies = Array.from({ length: 5 }, () => budget.open(limits));
        const refused = new Set<number>();
        for (const [index, body] of bodies.entries()) {
          body.start(() => refused.add(index));
        }
        const sum = (): number => bodies.reduce((total, { size }) => total + size, 0);
        for (const { body: index, size, settles } of steps) {
          const body = bodies[index];
          if (body === undefined || refused.has(index)) continue;
          try {
            body.grow(body.size + size);
          } catch {
            refused.add(index);
          }
          if (settles) body.settle();
          expect(sum()).toBeLessThanOrEqual(200);
        }
        for (const body of bodies) body.close();
        expect(sum()).toBe(0);
        const last = budget.open(limits);
        expect(() => last.grow(200)).not.toThrow();
      }),
    );
  });

  it("An UnverifiedBudget refuses the largest arriving body, or else the one that grows", () => {
    const budget = new UnverifiedBudget(100);
    const [settled, large, small] = [budget.open(limits), budget.open(limits), budget.open(limits)];
    const refused: string[] = [];
    settled.start(() => refused.push("settled"));
    large.start(({ code }) => refused.push(code));
    settled.grow(60);
    settled.settle();
    large.grow(30);
    small.grow(20);
    expect([refused, settled.size, large.size, small.size]).toEqual([
      ["ERR_WEBHOOKS_BODY_BUDGET"],
      60,
      0,
      20,
    ]);
    expect(() => small.grow(50)).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_BODY_BUDGET", status: 503 }),
    );
    expect(small.size).toBe(0);
  });
});

describe("maxUnverified", () => {
  it("maxUnverified limits all receivers of a Webhooks and verifyAndParse together", async () => {
    const secret = (): Promise<string> => gate.promise;
    const gate = Promise.withResolvers<string>();
    const webhooks = new Webhooks({ secret, log, maxUnverified: 1000 });
    const signer = new Webhooks({ secret: "s" });
    const large = JSON.stringify({ text: "x".repeat(700) });
    const request = async (): Promise<Request> =>
      new Request("http://x/api/vendor/webhooks", await delivery(signer, large));
    // It has arrived, and waits for its secret.
    const first = createWebMiddleware(webhooks, { maxBody: 1000 })(await request());
    const second = await createWebMiddleware(webhooks, { maxBody: 1000 })(await request());
    expect(second.status).toBe(503);
    await expect(webhooks.verifyAndParse(await request())).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_BODY_BUDGET",
    });
    gate.resolve("s");
    expect((await first).status).toBe(200);
    expect(await webhooks.verifyAndParse(await request())).toMatchObject({ name: "issues" });
  });

  it("maxUnverified does not count bodies that are being handled", async () => {
    const webhooks = new Webhooks({ secret: "s", log, maxUnverified: 1000 });
    const gate = Promise.withResolvers<void>();
    webhooks.onAny(() => gate.promise);
    const receive = createWebMiddleware(webhooks, { maxBody: 1000 });
    const init = await delivery(webhooks, JSON.stringify({ text: "x".repeat(700) }));
    const responses = Array.from({ length: 5 }, () =>
      receive(new Request("http://x/api/vendor/webhooks", init)),
    );
    gate.resolve();
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    const again = await receive(new Request("http://x/api/vendor/webhooks", init));
    expect(again.status).toBe(200);
  });

  it("maxUnverified must be at least maxBody", () => {
    const webhooks = new Webhooks({ secret: "s", log, maxUnverified: 1000 });
    expect(() => createWebMiddleware(webhooks)).toThrow("maxBody is 26214400, expected at most");
  });
});
