import type { IncomingHttpHeaders } from "node:http";
import type { Store } from "@fetchwork/documents";
import type { Sender } from "@fetchwork/webhooks/sender";
import { Webhook } from "svix";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startReceiver, type Arrived, type Receiver } from "../webhook-sender/receiver.ts";
import { importBlock } from "./page-block.ts";

const page = "from-svix.md";
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

interface Before {
  invoicePaid(id: string, total: number): Promise<void>;
  receive(request: Request): Promise<unknown>;
}

interface After {
  readonly store: Store;
  readonly sender: Sender;
  readonly received: readonly unknown[];
  invoicePaid(id: string, total: number): Promise<void>;
  receive(request: Request): Promise<Response>;
}

let service: Receiver;
let endpoint: Receiver;
let before: Before;
let after: After;

beforeAll(async () => {
  // Stands for the service of Svix, which the code before the move asks.
  const now = new Date().toISOString();
  service = await startReceiver((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "some-id", createdAt: now, updatedAt: now, timestamp: now }));
  });
  endpoint = await startReceiver();
  before = await importBlock<Before>(page, "js", {
    "https://svix.example.com": new URL(service.url).origin,
  });
  after = await importBlock<After>(page, "ts", {
    "https://example.com/hooks": endpoint.url,
    "createSender({ store,": "createSender({ store, allowHttp: true, allowPrivate: true,",
  });
});

afterAll(async () => {
  await after.sender.stop();
  await after.store.close();
  await service[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
});

let count = 0;

/** Sends an event by the code after the move. */
async function deliver(id: string): Promise<Arrived> {
  await after.invoicePaid(id, 12);
  count += 1;
  await endpoint.until(count);
  return endpoint.arrived.at(-1) ?? expect.fail("nothing arrived");
}

function requestOf(body: string, headers: IncomingHttpHeaders): Request {
  const names = ["content-type", "svix-id", "svix-timestamp", "svix-signature"];
  const init = names.map((name): [string, string] => [name, String(headers[name])]);
  return new Request("https://example.com/webhooks", { method: "POST", body, headers: init });
}

/** A delivery as Svix signs it. */
function signedBySvix(id: string, at = new Date()): Request {
  const body = JSON.stringify({ type: "invoice.paid", data: { id, total: 7 } });
  return requestOf(body, {
    "content-type": "application/json",
    "svix-id": id,
    "svix-timestamp": String(Math.floor(at.getTime() / 1000)),
    "svix-signature": new Webhook(secret).sign(id, at, body),
  });
}

describe("the sender of from-svix.md", () => {
  it("delivers the payload that the code before the move gave to Svix", async () => {
    await before.invoicePaid("in_1", 12);
    const { path, body } = service.arrived.at(-1) ?? expect.fail("nothing was asked");
    expect(path.split("?")[0]).toBe("/api/v1/app/acme/msg");
    const asked = JSON.parse(body) as { readonly payload: unknown };
    expect(asked).toMatchObject({ eventType: "invoice.paid", eventId: "in_1" });
    const delivered = await deliver("in_1");
    expect(JSON.parse(delivered.body)).toEqual(asked.payload);
    expect(delivered.headers["svix-id"]).toBe("in_1");
  });

  it("signs so that receivers keep their code and their secret", async () => {
    const { body, headers } = await deliver("in_2");
    await expect(before.receive(requestOf(body, headers))).resolves.toEqual(JSON.parse(body));
    await expect(before.receive(requestOf(`${body} `, headers))).rejects.toThrow("signature");
  });

  it("delivers an event with the same id once", async () => {
    await deliver("in_3");
    await after.invoicePaid("in_3", 12);
    await deliver("in_4");
    expect(endpoint.arrived.map(({ headers }) => headers["svix-id"])).toEqual([
      "in_1",
      "in_2",
      "in_3",
      "in_4",
    ]);
  });
});

describe("the receiver of from-svix.md", () => {
  it("accepts what Svix signs, and so does the code before the move", async () => {
    expect((await after.receive(signedBySvix("msg_1"))).status).toBe(200);
    expect(after.received).toContainEqual({ id: "msg_1", total: 7 });
    await expect(before.receive(signedBySvix("msg_1"))).resolves.toMatchObject({
      data: { id: "msg_1", total: 7 },
    });
  });

  it("refuses an old delivery and a changed one, and so does the code before the move", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(console, "warn").mockReturnValue();
    const old = () => signedBySvix("msg_2", new Date(Date.now() - 600_000));
    const changed = () => {
      const { headers } = signedBySvix("msg_3");
      return requestOf('{"type":"invoice.paid","data":{}}', Object.fromEntries(headers));
    };
    for (const request of [old, changed]) {
      expect((await after.receive(request())).status).toBe(400);
      await expect(before.receive(request())).rejects.toThrow();
    }
    vi.restoreAllMocks();
  });
});
