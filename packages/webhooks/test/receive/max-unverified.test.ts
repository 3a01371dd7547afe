import { describe, expect, it } from "vitest";
import { createWebMiddleware, Webhooks } from "../../src/index.ts";
import { delivery } from "../receivers.ts";

const log = { warn: () => undefined, error: () => undefined };

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
    expect(() => createWebMiddleware(webhooks)).toThrow(
      /^maxBody must be at most .*, got 26214400$/,
    );
  });
});
