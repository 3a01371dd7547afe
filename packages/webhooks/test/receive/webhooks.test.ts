import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  type VendorEvents,
  WebhookError,
  Webhooks,
  type WebhooksOptions,
} from "../../src/index.ts";

const secret = "mysecret";
const payload = '{"foo":"bar"}';
const signature = "sha256=4864d2759938a15468b5df9ade20bf161da9b4f737ea61794142f3484236bda3";
const log = { warn: () => undefined, error: () => undefined };
const create = (options: Partial<WebhooksOptions<VendorEvents>> = {}): Webhooks =>
  new Webhooks({ secret, log, ...options });

describe("new Webhooks", () => {
  it.each([
    undefined,
    {},
    { secret: "" },
    { secret: [] },
    { secret: ["a", ""] },
    { secret: 5 },
    { secret, additionalSecrets: "x" },
    { secret, additionalSecrets: [""] },
    { secret, transform: "x" },
    { secret, onUnknownEventName: "maybe" },
    { secret, replay: { keepFor: 0 } },
    { secret, replay: { lease: Number.NaN } },
    { secret, replay: { store: {} } },
  ])("new Webhooks() refuses %j", (options) => {
    expect(() => new Webhooks(options as never)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^ERR_WEBHOOKS_(OPTION|SECRET)$/) }),
    );
  });

  it.each([undefined, {}, { secret: "" }])(
    "new Webhooks(%j) says that a secret is needed",
    (options) => {
      expect(() => new Webhooks(options as never)).toThrow(
        /^options\.secret required: .*verified.*WEBHOOK_SECRET/,
      );
    },
  );

  it("A Webhooks does not show its secret when it is inspected", () => {
    const webhooks = create({ secret: "very-secret", additionalSecrets: ["also-secret"] });
    expect(inspect(webhooks, { depth: 9, showHidden: true })).not.toMatch(
      /very-secret|also-secret/,
    );
    expect(JSON.stringify(webhooks)).not.toMatch(/very-secret|also-secret/);
  });

  it("The methods of a Webhooks are bound", async () => {
    const { sign, verify, on, receive, verifyAndReceive, verifyAndParse } = create();
    const seen: unknown[] = [];
    on("push", ({ payload: body }) => seen.push(body));
    await receive({ id: "1", name: "push", payload: { a: 1 } });
    const own = await sign(payload);
    expect(await verify(payload, own)).toBe(true);
    await verifyAndReceive({ id: "2", name: "push", payload, signature: own });
    await verifyAndParse({ id: "3", name: "push", payload, signature: own });
    expect(seen).toEqual([{ a: 1 }, { foo: "bar" }]);
  });
});

describe("sign", () => {
  it.each([
    [secret, payload, signature],
    ["secret", "data", "sha256=1b2c16b75bd2a870c114153ccda5bcfca63314bc722fa160d690de133ccbb9db"],
    ["s", "{}", "sha256=143ca8d517ba1b181025d732b1cf275d90104fca57bb02a565542978aa18c4b6"],
    [
      "It's a Secret to Everybody",
      "Hello, World!",
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    ],
  ])("sign() signs with %s", async (key, body, expected) => {
    expect(await create({ secret: key }).sign(body)).toBe(expected);
    expect(await create({ secret: key }).sign(new TextEncoder().encode(body))).toBe(expected);
  });

  it.each([undefined, null, "", {}, 5])(
    "sign() rejects the payload %j with a TypeError",
    async (body) => {
      const promise = create().sign(body as never);
      await expect(promise).rejects.toThrow(TypeError);
      await expect(promise).rejects.toMatchObject({ code: "ERR_WEBHOOKS_ARGUMENT" });
    },
  );
});

describe("verify", () => {
  it.each([
    ["", undefined],
    [payload, undefined],
    [payload, ""],
    [undefined, signature],
    [{ foo: "bar" }, signature],
  ])("verify() rejects %j and %j with a TypeError", async (body, given) => {
    await expect(create().verify(body as never, given as never)).rejects.toThrow(TypeError);
  });

  it.each([
    ["without its prefix", signature.slice(7)],
    ["in upper case", signature.toUpperCase()],
    ["with a space behind", `${signature} `],
    ["with a space before", ` ${signature}`],
    ["with hyphens", `sha256=${signature.slice(7).replaceAll(/../g, "$&-")}`],
    ["cut short", signature.slice(0, -1)],
    ["with a digit more", `${signature}0`],
    ["as SHA-1", `sha1=${signature.slice(7, 47)}`],
    ["as words", "foo"],
    ["of another body", "sha256=143ca8d517ba1b181025d732b1cf275d90104fca57bb02a565542978aa18c4b6"],
  ])("verify() returns false for a signature %s", async (_, given) => {
    expect(await create().verify(payload, given)).toBe(false);
  });

  it("verify() returns true for the signature, and for headers that contain it", async () => {
    expect(await create().verify(payload, signature)).toBe(true);
    const headers = { "X-Hub-Signature-256": signature };
    expect(await create().verify(payload, headers)).toBe(true);
    expect(await create().verify(payload, new Headers(headers))).toBe(true);
  });

  it("verify() tries all secrets", async () => {
    expect(await create({ secret: ["new", secret] }).verify(payload, signature)).toBe(true);
    const rotating = create({ secret: "new", additionalSecrets: ["old", secret] });
    expect(await rotating.verify(payload, signature)).toBe(true);
    expect(await rotating.sign(payload)).toBe(await create({ secret: "new" }).sign(payload));
  });
});

describe("verifyAndReceive", () => {
  const sent = { id: "1", name: "push", payload, signature };

  it.each([
    ["a wrong signature", { ...sent, signature: `sha256=${"0".repeat(64)}` }],
    ["no signature", { ...sent, signature: undefined }],
    ["an empty payload", { ...sent, payload: "" }],
    ["another payload", { ...sent, payload: `${payload} ` }],
  ])("verifyAndReceive() rejects %s, and calls the error listeners", async (_, given) => {
    const webhooks = create();
    const errors: WebhookError[] = [];
    webhooks.onError((error) => errors.push(error));
    webhooks.onAny(() => expect.unreachable());
    const failure = { code: "ERR_WEBHOOKS_SIGNATURE", status: 400 };
    await expect(webhooks.verifyAndReceive(given as typeof sent)).rejects.toMatchObject(failure);
    expect(errors).toMatchObject([failure]);
    expect(errors[0]?.event).toMatchObject({ id: "1", name: "push" });
  });

  it("verifyAndReceive() rejects a parsed payload with a TypeError", async () => {
    const given = { ...sent, payload: { foo: "bar" } } as never;
    await expect(create().verifyAndReceive(given)).rejects.toThrow(/raw body/);
  });

  it.each(["{", "null", "5", '"x"', "true"])(
    "verifyAndReceive() rejects the body %j, and calls the error listeners",
    async (body) => {
      const webhooks = create();
      const errors: WebhookError[] = [];
      webhooks.onError((error) => errors.push(error));
      const own = await webhooks.sign(body);
      const promise = webhooks.verifyAndReceive({ ...sent, payload: body, signature: own });
      await expect(promise).rejects.toMatchObject({ code: "ERR_WEBHOOKS_JSON", status: 400 });
      expect(errors).toMatchObject([
        { code: "ERR_WEBHOOKS_JSON", event: { id: "1", name: "push" } },
      ]);
      expect(errors[0]?.errors).toEqual([new SyntaxError(errors[0]?.message)]);
    },
  );

  it("verifyAndReceive() rejects a delivery without an event name", async () => {
    await expect(create().verifyAndReceive({ ...sent, name: "" })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_EVENT",
    });
  });

  it("Errors do not show bodies when they are inspected", async () => {
    const webhooks = create();
    webhooks.onAny(() => {
      throw new Error("x");
    });
    const body = '{"password":"hunter2"}';
    const own = await webhooks.sign(body);
    const bad = `${body}x`;
    for (const given of [
      { ...sent, payload: body, signature: own },
      { ...sent, payload: bad, signature: own },
      { ...sent, payload: bad, signature: await webhooks.sign(bad) },
    ]) {
      const error: unknown = await webhooks
        .verifyAndReceive(given)
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WebhookError);
      expect(inspect(error, { depth: 9 })).not.toMatch(/hunter2|sha256=/);
    }
  });
});

describe("verifyAndParse", () => {
  it("verifyAndParse() returns the event of a request without calling handlers", async () => {
    const webhooks = create();
    webhooks.onAny(() => expect.unreachable());
    const headers = {
      "x-vendor-event": "push",
      "x-vendor-delivery": "7",
      "x-hub-signature-256": signature,
      "content-type": "application/json",
    };
    const request = new Request("http://x/", { method: "POST", body: payload, headers });
    const event = { id: "7", name: "push", payload: { foo: "bar" } };
    expect(await webhooks.verifyAndParse(request)).toEqual(event);
    expect(await webhooks.verifyAndParse({ payload, headers })).toEqual(event);
    await expect(webhooks.verifyAndParse(request)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_BODY_USED",
    });
  });

  it("verifyAndParse() refuses a malformed signature before it reads the request", async () => {
    const request = new Request("http://x/", { method: "POST", body: payload });
    await expect(create().verifyAndParse(request)).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SIGNATURE",
    });
    expect(request.bodyUsed).toBe(false);
  });
});

describe("a secret function", () => {
  it("A secret function finds the secret of a tenant, and none for an unknown tenant", async () => {
    const webhooks = create({
      secret: async ({ headers }) => (headers.get("x-tenant") === "a" ? [secret] : undefined),
    });
    const headers = { "x-hub-signature-256": signature, "x-vendor-event": "push" };
    await webhooks.verifyAndReceive({ payload, headers: { ...headers, "x-tenant": "a" } });
    await expect(webhooks.verifyAndReceive({ payload, headers })).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SIGNATURE",
    });
  });

  it("A secret function that fails causes ERR_WEBHOOKS_SECRET_FUNCTION with its error as the cause", async () => {
    const cause = new Error("no database");
    const webhooks = create({ secret: () => Promise.reject(cause) });
    const promise = webhooks.verifyAndReceive({ id: "", name: "push", payload, signature });
    await expect(promise).rejects.toMatchObject({
      code: "ERR_WEBHOOKS_SECRET_FUNCTION",
      status: 500,
      cause,
    });
  });
});
