import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  createWebMiddleware,
  defineVendor,
  type ReceiverOptions,
  type ReplayStore,
  type SignatureScheme,
  vendor as defaultVendor,
  type VendorEvents,
  Webhooks,
  type WebhooksOptions,
} from "../../src/index.ts";
import { hmacScheme } from "../../src/vendors/index.ts";
import { delivery, receivers, type RunningReceiver } from "../receivers.ts";

const path = "/api/vendor/webhooks";
const accept = "application/json";
const mismatch = '{"error":"signature does not match event payload and secret"}';
const unspecified = "Error: An Unspecified error occurred";
const quiet = { warn: () => undefined, error: () => undefined };
const running: RunningReceiver[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ close }) => close()));
});

function create(): Webhooks {
  return new Webhooks({ secret: "mysecret", log: quiet });
}

describe.each(receivers)("%s", (name, start) => {
  async function run(webhooks: Webhooks, options?: ReceiverOptions): Promise<RunningReceiver> {
    const receiver = await start(webhooks, options);
    running.push(receiver);
    return receiver;
  }

  it.each([
    ["another method", { method: "GET" }, 404, `{"error":"Unknown route: GET ${path}"}`],
    ["no content type", { method: "POST", body: new Uint8Array(2) }, 415, unsupported()],
    ["text", { method: "POST", body: "{}" }, 415, unsupported()],
    ["another type of JSON", typed("application/vnd+json"), 415, unsupported()],
    ["two types", typed("application/json, x"), 415, unsupported()],
    ["a form", typed("application/x-www-form-urlencoded"), 415, unsupported()],
    [
      "no headers of a delivery",
      typed("application/json"),
      400,
      missing("x-vendor-event, x-hub-signature-256, x-vendor-delivery"),
    ],
    [
      "no identifier",
      typed(accept, { "x-vendor-event": "push", "x-hub-signature-256": "x" }),
      400,
      missing("x-vendor-delivery"),
    ],
    ["an empty signature", signed(""), 400, mismatch],
    ["an impossible signature", signed("sha256=xyz"), 400, mismatch],
    ["a signature of SHA-1", signed(`sha1=${"0".repeat(40)}`), 400, mismatch],
    ["a wrong signature", signed(`sha256=${"0".repeat(64)}`), 400, mismatch],
    [
      "an upper-case signature",
      signed("sha256=143CA8D517BA1B181025D732B1CF275D90104FCA57BB02A565542978AA18C4B6"),
      400,
      mismatch,
    ],
  ])("A receiver refuses %s", async (_, init, status, body) => {
    const { send } = await run(create());
    const response = await send(path, init);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect([response.status, await response.text()]).toEqual([status, body]);
  });

  it.each([
    ["what is not JSON", "{", "SyntaxError: Invalid JSON"],
    ["a number", "5", "SyntaxError: Invalid JSON: expected an object"],
    ["null", "null", "SyntaxError: Invalid JSON: expected an object"],
    ["a text", '"x"', "SyntaxError: Invalid JSON: expected an object"],
    [
      "what is not UTF-8",
      Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
      "SyntaxError: Invalid JSON",
    ],
  ])("A receiver responds with 400 to a signed body that is %s", async (_, body, error) => {
    const webhooks = create();
    const { send } = await run(webhooks);
    const response = await send(path, await delivery(webhooks, body));
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });

  it("A receiver responds with 400 to an empty body", async () => {
    const { send } = await run(create());
    const init = signed(`sha256=${"0".repeat(64)}`);
    const response = await send(path, { ...init, body: "" });
    expect([response.status, await response.text()]).toEqual([400, mismatch]);
  });

  it("A receiver responds with 400 to an empty event name", async () => {
    const webhooks = create();
    const { send } = await run(webhooks);
    const response = await send(path, await delivery(webhooks, "{}", { "x-vendor-event": "" }));
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: "Event name not passed" },
    ]);
  });

  it.each([
    ["an error", new RangeError("ööps 😀"), "RangeError: ööps 😀"],
    ["an error without a message", Object.assign(new Error("x"), { message: "" }), unspecified],
    // As errors of clients have: the answer of another server says nothing about this endpoint.
    ["an error with a status", Object.assign(new Error("gone"), { status: 410 }), "Error: gone"],
    [
      "an error that asks to be exposed",
      Object.assign(new Error("gone"), { status: 410, expose: true }),
      "Error: gone",
    ],
    ["a long message", new Error("x".repeat(1_000_000)), `Error: ${"x".repeat(993)}`],
    ["a text", "x", unspecified],
    ["undefined", undefined, unspecified],
    ["null", null, unspecified],
    ["a frozen error", Object.freeze(new Error("cold")), "Error: cold"],
    ["an error that throws when looked at", hostile(), unspecified],
  ])(
    "A receiver responds with 500 when a handler throws %s, and exposes it only with exposeErrors",
    async (_, thrown, shown) => {
      const webhooks = create();
      webhooks.on("issues", () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what a handler may do
        throw thrown;
      });
      const { send } = await run(webhooks);
      const response = await send(path, await delivery(webhooks, "{}"));
      expect([response.status, await response.json()]).toEqual([500, { error: unspecified }]);
      const rejecting = create();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a handler may do
      rejecting.on("issues", () => Promise.reject(thrown));
      const other = await run(rejecting, { exposeErrors: true });
      const exposed = await other.send(path, await delivery(rejecting, "{}"));
      expect([exposed.status, await exposed.json()]).toEqual([500, { error: shown }]);
    },
  );

  it("A receiver responds with ok and the accepted media types", async () => {
    const webhooks = create();
    const seen: unknown[] = [];
    webhooks.on("issues.opened", (event) => seen.push(event));
    const { send } = await run(webhooks);
    const body = '{"action":"opened","emoji":"😀"}';
    const response = await send(path, await delivery(webhooks, body));
    expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
    expect(response.headers.get("content-type")).toMatch("text/plain");
    expect(response.headers.get("accept")).toBe("application/json");
    expect(seen).toEqual([
      { id: "d-1", name: "issues", payload: { action: "opened", emoji: "😀" } },
    ]);
  });

  it.each([
    ["an unknown event", { "x-vendor-event": "nothing_known" }],
    ["an event named __proto__", { "x-vendor-event": "__proto__" }],
    ["an event named constructor", { "x-vendor-event": "constructor" }],
    ["an event named *", { "x-vendor-event": "*" }],
    ["an event named error", { "x-vendor-event": "error" }],
    ["an empty identifier", { "x-vendor-delivery": "" }],
    ["a content type in capitals", { "content-type": "Application/JSON; charset=UTF-8" }],
  ])("A receiver responds with ok to %s", async (_, headers) => {
    const webhooks = create();
    webhooks.onError(() => expect.unreachable());
    const { send } = await run(webhooks);
    expect((await send(path, await delivery(webhooks, "{}", headers))).status).toBe(200);
  });

  it("A receiver accepts a body with a byte-order mark that is signed", async () => {
    const webhooks = create();
    const seen: unknown[] = [];
    webhooks.onAny(({ payload }) => seen.push(payload));
    const { send } = await run(webhooks);
    const body = Uint8Array.of(0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"a":1}'));
    expect((await send(path, await delivery(webhooks, body))).status).toBe(200);
    expect(seen).toEqual([{ a: 1 }]);
  });

  it.each(["/api/vendor/webhooks/", "/api/vendor/webhooks?a=1", "/api/vendor/webhooks/?a=1"])(
    "A receiver accepts %s as its path",
    async (url) => {
      const webhooks = create();
      const { send } = await run(webhooks);
      expect((await send(url, await delivery(webhooks, "{}"))).status).toBe(200);
    },
  );

  it("A receiver passes the URL to a scheme that signs it", async () => {
    const scheme = hmacScheme();
    const signsUrl: SignatureScheme = {
      ...scheme,
      createKey: (secret) => {
        const key = scheme.createKey(secret);
        return {
          ...key,
          verify: ({ headers, url = "" }) =>
            key.verify({ headers, body: url.slice(url.indexOf(path)) }),
        };
      },
    };
    const vendor = defineVendor({ ...defaultVendor, eventNames: [], scheme: signsUrl });
    const { send } = await run(new Webhooks({ secret: "mysecret", vendor, log: quiet }));
    const signed = `${path}?tenant=7`;
    const init = { ...(await delivery(create(), signed)), body: "{}" };
    expect((await send(signed, init)).status).toBe(200);
    expect((await send(`${path}?tenant=8`, init)).status).toBe(400);
  });

  it.each(["/", "/api/vendor", "/API/vendor/webhooks", "/api/vendor/%77ebhooks"])(
    "A receiver ignores %s as another path",
    async (url) => {
      const webhooks = create();
      const { send } = await run(webhooks);
      const response = await send(url, await delivery(webhooks, "{}"));
      expect(response.status).toBe(name.startsWith("createNode") ? 418 : 404);
    },
  );

  it("A receiver responds with 202 when handlers exceed the timeout, and logs their error", async () => {
    const errors: unknown[] = [];
    const webhooks = new Webhooks({ secret: "s", log: { error: (error) => errors.push(error) } });
    const { promise, reject } = Promise.withResolvers<void>();
    webhooks.on("issues", () => promise);
    const { send } = await run(webhooks, { timeout: 10 });
    const response = await send(path, await delivery(webhooks, "{}"));
    expect([response.status, await response.text()]).toEqual([202, "still processing\n"]);
    reject(new Error("late"));
    await expect.poll(() => errors).toMatchObject([{ message: "late" }]);
  });

  it.each<[string, () => never | Promise<never>]>([
    ["throws", () => fail()],
    ["rejects", async () => fail()],
  ])("A receiver responds as usual when its log %s", async (_, write) => {
    const log = { debug: write, info: write, warn: write, error: write };
    const webhooks = new Webhooks({ secret: "s", log });
    webhooks.on("issues", () => undefined);
    webhooks.on("push", () => fail());
    webhooks.onError(() => fail());
    const { send } = await run(webhooks);
    const handled = await delivery(webhooks, "{}");
    expect((await send(path, handled)).status).toBe(200);
    const failed = await delivery(webhooks, "{}", { "x-vendor-event": "push" });
    expect((await send(path, failed)).status).toBe(500);
    expect((await send(path, signed(`sha256=${"0".repeat(64)}`))).status).toBe(400);
  });

  it("A receiver accepts forms with a payload field when contentTypes has form", async () => {
    const webhooks = create();
    const seen: unknown[] = [];
    webhooks.onAny(({ payload }) => seen.push(payload));
    const { send } = await run(webhooks, { contentTypes: ["json", "form"] });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = `payload=${encodeURIComponent('{"a":"ö+ &"}')}`;
    expect((await send(path, await delivery(webhooks, body, headers))).status).toBe(200);
    expect((await send(path, await delivery(webhooks, "a=1&__proto__=2", headers))).status).toBe(
      200,
    );
    expect(seen).toEqual([
      { a: "ö+ &" },
      Object.assign(Object.create(null), { a: "1", ["__proto__"]: "2" }),
    ]);
    expect(Object.getPrototypeOf(seen[1])).toBeNull();
  });

  it("A receiver accepts a body of exactly 25 MiB", { timeout: 60_000 }, async () => {
    const webhooks = create();
    const { send } = await run(webhooks, { bodyTimeout: 60_000 });
    const body = new Uint8Array(26_214_400).fill(0x20);
    body.set(new TextEncoder().encode('{"a":1}'));
    expect((await send(path, await delivery(webhooks, body))).status).toBe(200);
    const more = new Uint8Array(26_214_401).fill(0x20);
    more.set(new TextEncoder().encode('{"a":1}'));
    const response = await send(path, await delivery(webhooks, more));
    expect([response.status, await response.json()]).toEqual([
      413,
      { error: "the body is too large" },
    ]);
  });

  it("A receiver limits a body without Content-Length", async () => {
    const webhooks = create();
    const { send } = await run(webhooks, { maxBody: 1000 });
    const init = await delivery(webhooks, "{}");
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
    });
    const request = { ...init, body: endless, duplex: "half" } as RequestInit;
    const status = await send(path, request).then(
      (response) => response.status,
      () => "cut off",
    );
    // A client that only writes may see its connection cut before it reads.
    expect([413, "cut off"]).toContain(status);
  });

  it("A receiver responds with 408 to a body that does not arrive", async () => {
    const webhooks = create();
    const { send } = await run(webhooks, { bodyTimeout: 20 });
    const init = await delivery(webhooks, "{}");
    const silent = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(new Uint8Array(1)) });
    const request = { ...init, body: silent, duplex: "half" } as RequestInit;
    const response = await send(path, request);
    expect(response.status).toBe(408);
  });

  describe("when its time is over", () => {
    const never = (): Promise<never> => new Promise(() => {});
    const open: ReplayStore = { claim: () => "new", complete: () => {}, release: () => {} };
    const settings: readonly (readonly [string, Partial<WebhooksOptions<VendorEvents>>])[] = [
      ["a secret function", { secret: never }],
      ["a replay store", { replay: { store: { ...open, claim: never }, dropEqualBodiesFor: 1 } }],
    ];

    it.each(settings)(
      "A receiver responds with 503 when %s never settles: %j",
      async (_, options) => {
        const webhooks = new Webhooks({ secret: "mysecret", log: quiet, ...options });
        const errors: string[] = [];
        let calls = 0;
        webhooks.onError(({ code }) => errors.push(code));
        webhooks.onAny(() => (calls += 1));
        const { send } = await run(webhooks, { timeout: 50 });
        const response = await send(path, await delivery(create(), "{}"));
        expect([response.status, errors, calls]).toEqual([503, ["ERR_WEBHOOKS_TIMEOUT"], 0]);
      },
    );

    it("A receiver releases a claim that is granted too late, and does not handle the delivery", async () => {
      const grant = Promise.withResolvers<"new">();
      const released = Promise.withResolvers<string>();
      const store = { ...open, claim: () => grant.promise, release: released.resolve };
      const replay = { store, dropEqualBodiesFor: 1 };
      const webhooks = new Webhooks({ secret: "mysecret", log: quiet, replay });
      let calls = 0;
      webhooks.onAny(() => (calls += 1));
      const { send } = await run(webhooks, { timeout: 20 });
      expect((await send(path, await delivery(webhooks, "{}"))).status).toBe(503);
      grant.resolve("new");
      expect(await released.promise).toMatch(/^vendor:/);
      expect(calls).toBe(0);
    });

    it("A receiver responds with 500 when handlers failed and the replay store never settles", async () => {
      const replay = { store: { ...open, release: never }, dropEqualBodiesFor: 1 };
      const webhooks = new Webhooks({ secret: "mysecret", log: quiet, replay });
      webhooks.onAny(() => fail());
      const { send } = await run(webhooks, { timeout: 50 });
      expect((await send(path, await delivery(webhooks, "{}"))).status).toBe(500);
    });
  });

  describe("beyond maxUnverified", () => {
    /** A delivery with a body of a number of bytes, of which the last one does not come. */
    async function unfinished(webhooks: Webhooks, size: number): Promise<RequestInit> {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(size - 1)),
      });
      return { ...(await delivery(webhooks, "{}")), body, duplex: "half" } as RequestInit;
    }

    it("A receiver beyond maxUnverified responds with 503 to the largest body, and accepts small ones", async () => {
      const webhooks = new Webhooks({ secret: "mysecret", log: quiet, maxUnverified: 1000 });
      const errors: string[] = [];
      webhooks.onError(({ code }) => errors.push(code));
      const { send } = await run(webhooks, { maxBody: 1000 });
      const first = send(path, await unfinished(webhooks, 900));
      const small = await delivery(webhooks, JSON.stringify({ text: "x".repeat(140) }));
      const statuses: number[] = [];
      // The first body need not be there yet when the others come.
      const isRefused = first.then(({ status }) => status);
      while (errors.length === 0) statuses.push((await send(path, small)).status);
      expect(await isRefused).toBe(503);
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(errors).toEqual(["ERR_WEBHOOKS_BODY_BUDGET"]);
      const large = await delivery(webhooks, JSON.stringify({ text: "x".repeat(900) }));
      expect((await send(path, large)).status).toBe(200);
    });

    it("A receiver beyond maxUnverified asks to retry later, and logs one line without a stack", async () => {
      const logged: unknown[] = [];
      const log = {
        warn: (...line: unknown[]) => logged.push(...line),
        error: (...line: unknown[]) => logged.push(...line),
      };
      const gate = Promise.withResolvers<string>();
      const webhooks = new Webhooks({ secret: () => gate.promise, log, maxUnverified: 1000 });
      const signer = new Webhooks({ secret: "s" });
      const { send } = await run(webhooks, { maxBody: 1000 });
      const large = await delivery(signer, JSON.stringify({ text: "x".repeat(700) }));
      // One waits for its secret, so the other one does not fit.
      const responses = [send(path, large), send(path, large)];
      const refused = await Promise.race(responses);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(logged).toEqual(["too many bytes wait for verification"]);
      gate.resolve("s");
      const statuses = (await Promise.all(responses)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
    });
  });
});

describe("a client that disconnects", () => {
  it.each(receivers.slice(0, 2))(
    "A client that disconnects in the middle of a body is one warning without a stack in the log: %s",
    async (_, start) => {
      const logged = Promise.withResolvers<unknown>();
      const log = {
        warn: (...line: unknown[]) => logged.resolve(["warn", ...line]),
        error: (...line: unknown[]) => logged.resolve(["error", ...line]),
      };
      const receiver = await start(new Webhooks({ secret: "s", log }));
      running.push(receiver);
      const socket = connect(receiver.port ?? 0, "127.0.0.1");
      const headers = new Headers(signed(`sha256=${"0".repeat(64)}`).headers);
      const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n${lines}\r\n`);
      socket.write("x", () => socket.destroy());
      expect(await logged.promise).toEqual(["warn", "the request was aborted"]);
    },
  );

  it("A body that fails for another reason is an error in the log", async () => {
    const logged: unknown[] = [];
    const log = {
      warn: () => logged.push("warn"),
      error: (error: unknown) => logged.push(error),
    };
    const middleware = createWebMiddleware(new Webhooks({ secret: "s", log }));
    const body = new ReadableStream({
      pull: (controller) => controller.error(new RangeError("a bug")),
    });
    const init = { ...signed(`sha256=${"0".repeat(64)}`), body, duplex: "half" };
    const response = await middleware(new Request(`http://127.0.0.1${path}`, init));
    expect(response.status).toBe(400);
    expect(logged).toMatchObject([{ code: "ERR_WEBHOOKS_BODY", cause: { message: "a bug" } }]);
  });
});

function unsupported(): string {
  return String.raw`{"error":"Unsupported \"Content-Type\" header value. Must be \"application/json\""}`;
}

function missing(names: string): string {
  return `{"error":"Required headers missing: ${names}"}`;
}

function typed(type: string, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return { method: "POST", body: "{}", headers: { "content-type": type, ...headers } };
}

function signed(signature: string): RequestInit {
  const headers = { "x-vendor-event": "push", "x-vendor-delivery": "1" };
  return typed(accept, { ...headers, "x-hub-signature-256": signature });
}

function hostile(): Error {
  return Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("do not look");
    },
  });
}

function fail(): never {
  throw new Error("the disk is full");
}
