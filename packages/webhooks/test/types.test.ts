import { expect, expectTypeOf, it } from "vitest";
import type { Handler } from "@fetchwork/http";
import {
  createEventHandler,
  createWebMiddleware,
  type EmitterWebhookEvent,
  type EmitterWebhookEventName,
  emitterEventNames,
  Webhooks,
} from "../src/index.ts";
import {
  defineVendor,
  github,
  hmacScheme,
  stripe,
  type GithubEventName,
  type GithubEvents,
} from "../src/vendors/index.ts";

// What is checked here is checked by the compiler; the calls only show that it also runs.
it("on() narrows name and payload of the default vendor", () => {
  const { on, onAny } = createEventHandler();
  on("issues.opened", ({ name, payload }) => {
    expectTypeOf(name).toEqualTypeOf<"issues">();
    expectTypeOf(payload.action).toEqualTypeOf<"opened">();
  });
  on(["push", "ping"], ({ name }) => expectTypeOf(name).toEqualTypeOf<"push" | "ping">());
  onAny((event) => {
    if (event.name === "issues")
      expectTypeOf(event.payload.action).toEqualTypeOf<string | undefined>();
  });
  // @ts-expect-error -- no event
  on("isues", () => undefined);
  // @ts-expect-error -- no action
  on("issues.open", () => undefined);
  expectTypeOf<EmitterWebhookEvent<"check_run.created">["name"]>().toEqualTypeOf<"check_run">();
  expectTypeOf<EmitterWebhookEventName>().toEqualTypeOf<(typeof emitterEventNames)[number]>();
  expect(emitterEventNames[0]).toBe("branch_protection_configuration");
});

it("on() narrows GitHub's payloads by event, by action, and by the field action", () => {
  const webhooks = new Webhooks({ secret: "s", vendor: github });
  webhooks.on("issues.labeled", ({ payload }) => {
    expectTypeOf(payload.action).toEqualTypeOf<"labeled">();
    expectTypeOf(payload.issue.number).toEqualTypeOf<number>();
    expectTypeOf(payload.repository.full_name).toEqualTypeOf<string>();
  });
  webhooks.on("issues", ({ payload }) => {
    if (payload.action === "transferred")
      expectTypeOf(payload.changes.new_issue.number).toEqualTypeOf<number>();
  });
  webhooks.on("push", ({ payload }) => expectTypeOf(payload.ref).toEqualTypeOf<string>());
  webhooks.on("projects_v2.closed", ({ payload }) =>
    expectTypeOf(payload.action).toEqualTypeOf<"closed">(),
  );
  webhooks.on("github_app_authorization", ({ payload }) =>
    expectTypeOf(payload.action).toEqualTypeOf<"revoked">(),
  );
  webhooks.onAny((event) => {
    if (event.name === "push") expectTypeOf(event.payload.ref).toEqualTypeOf<string>();
  });
  // @ts-expect-error -- the default vendor's name
  webhooks.on("vendor_app_authorization", () => undefined);
  expect(github.eventNames).toContain("repository_dispatch.sample.collected");
  expect(github.eventNames).not.toContain("vendor_app_authorization");
});

it("on() types the fields of every event of GitHub, including actions of several words", () => {
  type OpenPart<Part> = Part extends unknown ? (string extends keyof Part ? Part : never) : never;
  type Undescribed = {
    [Name in GithubEventName]: [OpenPart<GithubEvents[Name]>] extends [never] ? never : Name;
  }[GithubEventName];
  expectTypeOf<Undescribed>().toEqualTypeOf<never>();

  const webhooks = new Webhooks({ secret: "s", vendor: github });
  webhooks.on("pull_request.ready_for_review", ({ payload }) => {
    expectTypeOf(payload.action).toEqualTypeOf<"ready_for_review">();
    expectTypeOf(payload.pull_request.title).toEqualTypeOf<string>();
  });
  webhooks.on("pull_request", ({ payload }) =>
    expectTypeOf(payload.pull_request.number).toEqualTypeOf<number>(),
  );
  webhooks.on(["check_run.completed", "label"], ({ payload }) => {
    if ("check_run" in payload) expectTypeOf(payload.check_run.name).toEqualTypeOf<string>();
  });
  expect(github.eventNames).toContain("pull_request.ready_for_review");
});

it("on() types custom events, and those of a vendor with any names", () => {
  interface ShopEvents {
    readonly "order.paid": { readonly total: number };
    readonly refund: { readonly action: string };
    readonly "refund.asked": { readonly action: "asked" };
  }
  const shop = defineVendor<ShopEvents>({
    name: "shop",
    path: "/hooks",
    scheme: hmacScheme({ header: "X-Shop-Signature" }),
    eventHeader: "X-Shop-Event",
    eventNames: ["order.paid", "refund", "refund.asked"],
  });
  const { on } = createEventHandler({ vendor: shop });
  on("order.paid", ({ name, payload }) => {
    expectTypeOf(name).toEqualTypeOf<"order.paid">();
    expectTypeOf(payload.total).toEqualTypeOf<number>();
  });
  on("refund.asked", ({ name }) => expectTypeOf(name).toEqualTypeOf<"refund">());
  // @ts-expect-error -- no event of the shop
  on("push", () => undefined);
  createEventHandler({ vendor: stripe }).on("invoice.paid", ({ name, payload }) => {
    expectTypeOf(name).toEqualTypeOf<"invoice.paid">();
    expectTypeOf(payload.created).toEqualTypeOf<number>();
  });
  expect(shop.path).toBe("/hooks");
});

it("on() adds the type that a transform returns", () => {
  const { on, onAny } = createEventHandler({ transform: (event) => ({ ...event, octo: 1 }) });
  on("issues.opened", ({ octo, payload }) => {
    expectTypeOf(octo).toEqualTypeOf<number>();
    expectTypeOf(payload.action).toEqualTypeOf<"opened">();
  });
  onAny((event) => expectTypeOf(event).not.toHaveProperty("octo"));
  expect(on).toBeTypeOf("function");
});

it("on() keeps the types of payloads with a transform that does not change them", () => {
  const webhooks = new Webhooks({
    secret: "s",
    vendor: github,
    transform: (event) => Object.assign(event, { octo: 1 }),
  });
  webhooks.on(["check_run.completed", "label"], ({ octo, payload }) => {
    expectTypeOf(octo).toEqualTypeOf<number>();
    expectTypeOf(payload).not.toHaveProperty("isue");
    if ("check_run" in payload) expectTypeOf(payload.check_run.name).toEqualTypeOf<string>();
  });
  const { on } = createEventHandler({
    vendor: github,
    transform: async ({ id, name, payload }) => ({ id, name, payload, title: "t" }),
  });
  on("issues", ({ title, payload }) => {
    expectTypeOf(title).toEqualTypeOf<string>();
    expectTypeOf(payload.issue.number).toEqualTypeOf<number>();
    expectTypeOf(payload).not.toHaveProperty("isue");
  });
  expect(on).toBeTypeOf("function");
});

it("The web middleware is a Handler of @fetchwork/http", () => {
  const handler: Handler = createWebMiddleware(new Webhooks({ secret: "s" }));
  expect(handler).toBeTypeOf("function");
});

it("defineVendor() refuses invalid vendors", () => {
  const good = { name: "x", path: "/x", scheme: hmacScheme(), eventHeader: "X-E", eventNames: [] };
  for (const bad of [
    { name: "X Y" },
    { path: "x" },
    { scheme: {} },
    { eventHeader: "a b" },
    { deliveryHeader: "a\nb" },
    { eventHeader: undefined },
    { eventNames: "push" },
  ]) {
    expect(() => defineVendor({ ...good, ...bad } as never)).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_OPTION" }),
    );
  }
});
