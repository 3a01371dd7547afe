import { createHmac } from "node:crypto";
import { openStore, type Store } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { vendor } from "@fetchwork/webhooks";
import { gitlab, square, standardWebhooks, stripe } from "@fetchwork/webhooks/vendors";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  defineConfig,
  defineReceiver,
  defineService,
  serverSettings,
  ServiceError,
  StartError,
} from "../../src/index.ts";
import { openService } from "../../src/open-service.ts";
import { readStartSettings } from "../../src/settings/start-settings.ts";
import { secrets } from "../notes-service.ts";

const STRIPE_SECRET = "whsec_0123456789abcdefghij";
const VENDOR_SECRET = "vendor-secret-0123456789";
const set = { STRIPE_SECRET, VENDOR_SECRET, PUBLIC_URL: "https://shop.example.com" };

type Deliver = (path: string, body: string, headers: HeadersInit) => Promise<Response>;

/** Opens a service that receives, on the store if there is one, with a handler for all events. */
async function open(
  handle: (event: { readonly id: string; readonly name: string }) => unknown,
  { settings = set, store }: { readonly settings?: object; readonly store?: Store } = {},
): Promise<Deliver> {
  const service = defineService({
    name: "shop",
    config: defineConfig({
      ...serverSettings,
      STRIPE_SECRET: z.string().optional(),
      VENDOR_SECRET: z.string().optional(),
    }),
    receivers: [
      defineReceiver({
        name: "payments",
        path: "/payments/webhooks",
        vendor: stripe,
        secret: "STRIPE_SECRET",
        on: { "invoice.paid": handle },
      }),
      defineReceiver({
        name: "orders",
        path: "/orders/webhooks",
        vendor: square,
        secret: "VENDOR_SECRET",
        on: { "order.updated": handle },
      }),
      defineReceiver({
        name: "issues",
        path: "/issues/webhooks",
        vendor,
        secret: "VENDOR_SECRET",
        on: { issues: handle },
      }),
    ],
  });
  const used = store ?? (await emptyStore());
  const environment = { ...secrets, ...settings };
  const opened = openService(service, used, {
    settings: readStartSettings(service, environment, "/"),
  });
  onTestFinished(() => opened.stop({ grace: 0 }));
  return async (path, body, headers) => {
    const url = `http://localhost${path}`;
    const all = { "content-type": "application/json", ...Object.fromEntries(new Headers(headers)) };
    return runHandler(opened.handler, new Request(url, { method: "POST", body, headers: all }));
  };
}

async function emptyStore(): Promise<Store> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  return store;
}

const paid = JSON.stringify({ id: "evt_1", type: "invoice.paid", data: { object: {} } });

const updated = JSON.stringify({ event_id: "e1", type: "order.updated" });

function signedBySquare(body: string, secret = VENDOR_SECRET): Record<string, string> {
  const url = "https://shop.example.com/orders/webhooks";
  const signature = createHmac("sha256", secret)
    .update(url + body)
    .digest("base64");
  return { "x-square-hmacsha256-signature": signature };
}

function signedByStripe(body: string, secret = STRIPE_SECRET): Record<string, string> {
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return { "stripe-signature": `t=${time},v1=${signature}` };
}

function signedByVendor(body: string, secret = VENDOR_SECRET): Record<string, string> {
  return {
    "x-vendor-event": "issues",
    "x-vendor-delivery": "delivery-1",
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
}

describe("defineReceiver", () => {
  const receiver = { name: "shop", path: "/shop", vendor: stripe, secret: "SECRET", on: {} };

  it.each([standardWebhooks, gitlab])(
    "names the setting whose secret is not one of $name, without its value",
    async (sender) => {
      const service = defineService({
        name: "shop",
        config: defineConfig({ ...serverSettings }),
        receivers: [defineReceiver({ ...receiver, vendor: sender })],
      });
      const environment = { ...secrets, SECRET: "not a secret" };
      const settings = readStartSettings(service, environment, "/");
      const store = await emptyStore();
      const opening = (): unknown => openService(service, store, { settings });
      expect(opening).toThrow(StartError);
      expect(opening).toThrow(/^SECRET: (?!.*not a secret)/);
    },
  );

  it.each([
    [{ handlers: {} }, "defineReceiver has no option"],
    [{ name: "my shop" }, 'name of a receiver must be letters, got "my shop"'],
    [{ path: "shop" }, 'path of shop must be one like /stripe, got "shop"'],
    [{ path: "/shop/:id" }, 'path of shop must be one like /stripe, got "/shop/:id"'],
    [{ path: "/" }, 'path of shop must be one like /stripe, got "/"'],
  ])("refuses %j", (wrong, message) => {
    const define = () => defineReceiver({ ...receiver, ...wrong });
    expect(define).toThrow(ServiceError);
    expect(define).toThrow(message);
  });
});

describe.each([
  {
    of: "stripe",
    path: "/payments/webhooks",
    body: paid,
    signed: signedByStripe,
    event: { id: "evt_1", name: "invoice.paid" },
  },
  {
    of: "square, which signs the public URL",
    path: "/orders/webhooks",
    body: updated,
    signed: signedBySquare,
    event: { id: "e1", name: "order.updated" },
  },
  {
    of: "the default vendor",
    path: "/issues/webhooks",
    body: "{}",
    signed: signedByVendor,
    event: { id: "delivery-1", name: "issues" },
  },
])("a receiver of $of", ({ path, body, signed, event }) => {
  it("refuses what is not signed, or wrongly", async () => {
    const handle = vi.fn<(given: object) => void>();
    const deliver = await open(handle);
    const right = signed(body);
    const unsigned = Object.fromEntries(
      Object.entries(right).filter(([name]) => !name.includes("signature")),
    );
    for (const headers of [
      unsigned,
      signed(body, "another-secret-0123456789"),
      signed(`${body} `),
    ]) {
      const { status } = await deliver(path, body, headers);
      expect(status).toBe(400);
    }
    expect(handle).not.toHaveBeenCalled();
    expect((await deliver(path, body, right)).status).toBe(200);
    expect(handle.mock.calls).toMatchObject([[event, {}]]);
  });

  it("is not there while its setting is not set", async () => {
    const handle = vi.fn<() => void>();
    const deliver = await open(handle, { settings: {} });
    expect((await deliver(path, body, signed(body))).status).toBe(404);
    expect((await deliver(path, body, signed(body, ""))).status).toBe(404);
    expect(handle).not.toHaveBeenCalled();
  });

  it("refuses a body of more than 1 MiB", async () => {
    const handle = vi.fn<() => void>();
    const deliver = await open(handle);
    const large = body.padEnd(1_048_577);
    expect((await deliver(path, large, signed(large))).status).toBe(413);
    expect(handle).not.toHaveBeenCalled();
    const fits = body.padEnd(1_048_576);
    expect((await deliver(path, fits, signed(fits))).status).toBe(200);
  });

  it("lets the sender try again after a handler threw, and says nothing of the error", async () => {
    const handle = vi.fn<() => void>().mockImplementationOnce(() => {
      throw new Error("the password is 123456");
    });
    const deliver = await open(handle);
    const failed = await deliver(path, body, signed(body));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain("123456");
    expect((await deliver(path, body, signed(body))).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(2);
  });
});

it("a receiver without its secret is a warning in production", async () => {
  const warned: string[] = [];
  const logs = { started: () => {}, noted: () => {}, failed: () => {} };
  const service = defineService({
    name: "shop",
    config: defineConfig({ ...serverSettings, STRIPE_SECRET: z.string().optional() }),
    receivers: [
      defineReceiver({
        name: "payments",
        path: "/p",
        vendor: stripe,
        secret: "STRIPE_SECRET",
        on: {},
      }),
    ],
  });
  for (const NODE_ENV of ["production", "development"]) {
    const settings = readStartSettings(service, { ...secrets, NODE_ENV }, "/");
    const warn = (message: string): void => void warned.push(message);
    openService(service, await emptyStore(), { settings, logs: { ...logs, warned: warn } });
  }
  expect(warned).toEqual(["STRIPE_SECRET is not set, so payments receives no webhooks"]);
});

describe("a delivery with a signed identifier", () => {
  it("is handled once when it is delivered twice", async () => {
    const handle = vi.fn<() => void>();
    const deliver = await open(handle);
    for (let time = 0; time < 2; time += 1) {
      const { status } = await deliver("/payments/webhooks", paid, signedByStripe(paid));
      expect(status).toBeLessThan(300);
    }
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it("is handled once by two services with one store, also at the same time", async () => {
    const store = await emptyStore();
    const handle = vi.fn<() => void>();
    const services = [await open(handle, { store }), await open(handle, { store })];
    const headers = signedByStripe(paid);
    await Promise.all(services.map((deliver) => deliver("/payments/webhooks", paid, headers)));
    for (const deliver of services) await deliver("/payments/webhooks", paid, headers);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it("is not acknowledged before its handler has ended, so that one that fails late is repeated", async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const deliver = await open(() => {
      started.resolve();
      return ended.promise;
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const response = deliver("/payments/webhooks", paid, signedByStripe(paid));
    await started.promise;
    await vi.advanceTimersByTimeAsync(14_000);
    ended.reject(new Error("too late"));
    expect((await response).status).toBe(500);
  });

  it("is not handled a second time while its handler runs, however long that takes", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const store = await emptyStore();
    const gate = Promise.withResolvers<void>();
    const handle = vi.fn<() => Promise<void>>(() => gate.promise);
    const services = [await open(handle, { store }), await open(handle, { store })];
    const send = () => services.map((deliver) => deliver("/payments/webhooks", paid, signed()));
    const signed = () => signedByStripe(paid);
    const [first] = send();
    await vi.waitUntil(() => handle.mock.calls.length === 1);
    for (let minute = 0; minute < 3; minute += 1) {
      await vi.advanceTimersByTimeAsync(61_000);
      for (const again of await Promise.all(send())) expect(again.status).toBe(409);
    }
    gate.resolve();
    expect((await first)?.status).toBe(200);
    for (const again of await Promise.all(send())) expect(again.status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(1);
  });
});
