import { isFetchworkError, UsageError } from "@fetchwork/kit";
import { describe, expect, it } from "vitest";
import {
  createEventHandler,
  createLambdaHandler,
  createNodeMiddleware,
  createWebMiddleware,
  defineVendor,
  validateEventName,
  WebhookError,
  Webhooks,
  WebhookUsageError,
} from "../src/index.ts";
import { createSender } from "../src/node/sender/index.ts";
import {
  hmacScheme,
  slackScheme,
  standardScheme,
  stripeScheme,
  tokenScheme,
} from "../src/vendors/index.ts";

const webhooks = new Webhooks({ secret: "s" });
const scheme = hmacScheme();
const vendor = { name: "x", path: "/x", scheme, eventHeader: "X-Event", eventNames: [] };

/** Calls each factory with options that JavaScript may pass. */
const factories: readonly (readonly [string, (options: never) => unknown, object])[] = [
  ["Webhooks", (options) => new Webhooks(options), { secret: "s" }],
  ["createEventHandler", (options) => createEventHandler(options), {}],
  ["createNodeMiddleware", (options) => createNodeMiddleware(webhooks, options), {}],
  ["createWebMiddleware", (options) => createWebMiddleware(webhooks, options), {}],
  ["createLambdaHandler", (options) => createLambdaHandler(webhooks, options), {}],
  ["replay", (replay) => new Webhooks({ secret: "s", replay }), {}],
  ["defineVendor", (options) => defineVendor(options), vendor],
  ["validateEventName", (options) => validateEventName("push", options), {}],
  ["hmacScheme", (options) => hmacScheme(options), {}],
  ["standardScheme", (options) => standardScheme(options), {}],
  ["slackScheme", (options) => slackScheme(options), {}],
  ["stripeScheme", (options) => stripeScheme(options), {}],
  ["tokenScheme", (options) => tokenScheme(options), { header: "x" }],
  ["createSender", (options) => createSender(options), { store: {} }],
  ["retry", (retry) => createSender({ store: {} as never, retry }), {}],
  [
    "event type a",
    (type) => createSender({ store: { transaction: () => {} } as never, eventTypes: { a: type } }),
    {},
  ],
];

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each(factories)("the options of %s", (owner, make, needed) => {
  it("are refused when one does not exist", () => {
    expect(thrownBy(() => make({ ...needed, nonsense: 1 } as never))).toMatchObject({
      code: "ERR_WEBHOOKS_OPTION",
      message: expect.stringContaining(`${owner} has no option "nonsense"`),
    });
  });

  it("are refused when they are null", () => {
    expect(thrownBy(() => make(null as never))).toMatchObject({ code: "ERR_WEBHOOKS_OPTION" });
  });
});

describe("an option that is misspelt", () => {
  it.each([
    [() => new Webhooks({ secret: "s", reply: true } as never), 'did you mean "replay"?'],
    [() => createWebMiddleware(webhooks, { max_body: 5 } as never), 'did you mean "maxBody"?'],
    [() => createNodeMiddleware(webhooks, { time_out: 5 } as never), 'did you mean "timeout"?'],
  ])("A misspelt option is reported with the one that was meant: %#", (call, advice) => {
    expect(thrownBy(call)).toMatchObject({ message: expect.stringContaining(advice) });
  });
});

it.each<[string, object]>([
  ["allowHttp", { allowHttp: "false" }],
  ["allowPrivate", { allowPrivate: 1 }],
  ["onAttempt", { onAttempt: "log" }],
  ["onError", { onError: {} }],
  ["announce", { announce: [{}] }],
])("createSender() refuses an invalid %s: %j", (_, option) => {
  const store = { transaction: () => {}, collection: () => ({}) };
  expect(thrownBy(() => createSender({ store, ...option } as never))).toMatchObject({
    code: "ERR_WEBHOOKS_OPTION",
  });
});

it("createWebMiddleware() refuses a fallback that is not a function", () => {
  expect(thrownBy(() => createWebMiddleware(webhooks, { fallback: 1 as never }))).toMatchObject({
    code: "ERR_WEBHOOKS_OPTION",
  });
});

describe("an option that is null", () => {
  it.each(["vendor", "log", "replay", "transform", "additionalSecrets"])(
    "An option that is null is refused by its name: %s",
    (name) => {
      expect(thrownBy(() => new Webhooks({ secret: "s", [name]: null }))).toMatchObject({
        code: "ERR_WEBHOOKS_OPTION",
        message: expect.stringContaining(name),
      });
    },
  );
});

describe("a vendor", () => {
  it.each(["github", 5, {}])("The option vendor must be a vendor, and not %j", (given) => {
    expect(thrownBy(() => new Webhooks({ secret: "s", vendor: given } as never))).toMatchObject({
      code: "ERR_WEBHOOKS_OPTION",
      message: expect.stringMatching(/^vendor must be a vendor, such as github of .*, got /),
    });
  });
});

describe("errors", () => {
  it("Errors of webhooks are recognized by isFetchworkError()", () => {
    const usage = new WebhookUsageError("ERR_WEBHOOKS_OPTION", "x");
    expect(usage).toBeInstanceOf(UsageError);
    expect(usage).toBeInstanceOf(TypeError);
    expect([usage.name, usage.code]).toEqual(["WebhookUsageError", "ERR_WEBHOOKS_OPTION"]);
    expect(isFetchworkError(usage)).toBe(true);
    expect(isFetchworkError(new WebhookError("ERR_WEBHOOKS_JSON", "x"))).toBe(true);
  });
});
