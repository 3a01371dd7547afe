import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createEventHandler,
  emitterEventNames,
  validateEventName,
  type WebhookError,
  type WebhookHandlerError,
  WebhookReceiveError,
} from "../../src/index.ts";

const opened = { id: "1", name: "issues", payload: { action: "opened" } };
const quiet = { warn: () => undefined, error: () => undefined };

afterEach(() => {
  vi.useRealTimers();
});

describe("receive", () => {
  it("receive() calls the handlers of the action, of the name and of any event, in this order", async () => {
    const { on, onAny, receive } = createEventHandler();
    const calls: string[] = [];
    onAny(() => calls.push("any"));
    on("issues", () => calls.push("name"));
    on("issues.opened", () => calls.push("action"));
    on("issues.closed", () => calls.push("other action"));
    on("push", () => calls.push("other name"));
    expect(await receive(opened)).toBeUndefined();
    expect(calls).toEqual(["action", "name", "any"]);
  });

  it("receive() runs handlers in parallel and waits for all, even when one fails", async () => {
    const { on, receive } = createEventHandler({ log: quiet });
    const calls: string[] = [];
    const gate = Promise.withResolvers<void>();
    on("issues", async () => {
      await gate.promise;
      calls.push("first");
    });
    on("issues", () => {
      calls.push("second");
      gate.resolve();
      throw new Error("second failed");
    });
    await expect(receive(opened)).rejects.toThrow("second failed");
    expect(calls).toEqual(["second", "first"]);
  });

  it("receive() rejects with all errors in the order of the handlers, each with the event", async () => {
    const { on, onError, receive } = createEventHandler();
    const told: WebhookError[] = [];
    onError((error) => told.push(error));
    const [late, soon] = [new Error("late"), new TypeError("soon")];
    on("issues", () => new Promise((_, reject) => void setImmediate(reject, late)));
    on("issues", () => {
      throw soon;
    });
    on("issues", () => undefined);
    const error: unknown = await receive(opened).catch((reason: unknown) => reason);
    if (!(error instanceof WebhookReceiveError)) throw new TypeError("not the right error");
    expect(error).toBeInstanceOf(AggregateError);
    expect(error.message).toBe("late\nsoon");
    expect(error.event).toBe(opened);
    expect(error.errors.map((each: WebhookHandlerError) => each.cause)).toEqual([late, soon]);
    expect(error.errors.map((each: WebhookHandlerError) => each.event)).toEqual([opened, opened]);
    expect(told.toSorted((a, b) => a.message.localeCompare(b.message))).toEqual(error.errors);
    expect(told.map(({ errors }) => errors)).toEqual([[soon], [late]]);
  });

  it.each([
    [undefined, "Event name not passed"],
    [{}, "Event name not passed"],
    [{ id: "1", name: "", payload: {} }, "Event name not passed"],
    [{ id: "1", name: 5, payload: {} }, "Event name not passed"],
    [{ id: "1", name: "push" }, "Event payload not passed"],
    [{ id: "1", name: "push", payload: null }, "Event payload not passed"],
    [{ id: "1", name: "push", payload: "x" }, "Event payload not passed"],
  ])("receive() rejects %j", async (event, message) => {
    const promise = createEventHandler().receive(event as never);
    await expect(promise).rejects.toMatchObject({ code: "ERR_WEBHOOKS_EVENT", message });
  });

  it.each(["__proto__", "constructor", "toString", "*", "error", "hasOwnProperty"])(
    "receive() calls only the handlers of any event for one named %s",
    async (name) => {
      const { on, onAny, onError, receive } = createEventHandler();
      const names: string[] = [];
      on(["issues", "push"], () => expect.unreachable());
      onError(() => expect.unreachable());
      onAny((event) => names.push(event.name));
      await receive({ id: "1", name, payload: { action: name } });
      expect(names).toEqual([name]);
    },
  );

  it("receive() calls no named handler for any other name or action", async () => {
    const { on, onAny, receive } = createEventHandler();
    on(["issues", "issues.opened"], () => expect.unreachable());
    let calls = 0;
    onAny(() => (calls += 1));
    const names = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom("__proto__", "constructor"),
    );
    const others = names.filter((name) => !/^issues(\.opened)?$/.test(name));
    await fc.assert(
      fc.asyncProperty(others, names, async (name, action) => {
        calls = 0;
        await receive({ id: "1", name, payload: JSON.parse(JSON.stringify({ action })) });
        expect(calls).toBe(1);
      }),
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("opened");
  });

  it("receive() reads an action only when it is an own string property of the payload", async () => {
    const { on, receive } = createEventHandler();
    on("issues.opened", () => expect.unreachable());
    await receive({ id: "1", name: "issues", payload: Object.create({ action: "opened" }) });
    await receive({ id: "1", name: "issues", payload: { action: ["opened"] } });
  });

  it("receive() logs what error listeners throw, and continues", async () => {
    const logged: unknown[] = [];
    const log = { error: (...all: unknown[]) => logged.push(all[1]) };
    const { on, onError, receive } = createEventHandler({ log });
    const [thrown, rejected] = [new Error("thrown"), new Error("rejected")];
    onError(() => {
      throw thrown;
    });
    onError(() => Promise.reject(rejected));
    on("issues", () => Promise.reject(new Error("x")));
    await expect(receive(opened)).rejects.toThrow("x");
    await expect.poll(() => logged).toEqual([thrown, rejected]);
  });

  it("receive() does not wait for error listeners", async () => {
    const { on, onError, receive } = createEventHandler();
    onError(() => new Promise(() => undefined));
    on("issues", () => Promise.reject(new Error("x")));
    await expect(receive(opened)).rejects.toThrow("x");
  });
});

describe("on", () => {
  it.each(["*", "error", 5, undefined])("on() refuses the name %j", (name) => {
    const { on } = createEventHandler();
    expect(() => on(name as never, () => undefined)).toThrow(
      expect.objectContaining({ code: "ERR_WEBHOOKS_EVENT_NAME" }),
    );
  });

  it("on() refuses a handler that is not a function", () => {
    const { on, onAny, onError } = createEventHandler();
    for (const add of [
      () => on("push", 5 as never),
      () => onAny({} as never),
      () => onError(null as never),
    ]) {
      expect(add).toThrow(expect.objectContaining({ code: "ERR_WEBHOOKS_ARGUMENT" }));
    }
  });

  it("on() warns of an unknown name, ignores it, or throws, as onUnknownEventName says", async () => {
    const warnings: unknown[] = [];
    const log = { warn: (message: unknown) => warnings.push(message) };
    const calls: string[] = [];
    const warning = createEventHandler({ log });
    warning.on("nothing\nknown" as "push", () => calls.push("warned"));
    await warning.receive({ id: "", name: "nothing\nknown", payload: {} });
    expect(warnings).toEqual([String.raw`"nothing\nknown" is not a known webhook name of vendor`]);
    const ignoring = createEventHandler({ log, onUnknownEventName: "ignore" });
    ignoring.on("unknown" as "push", () => calls.push("ignored"));
    await ignoring.receive({ id: "", name: "unknown", payload: {} });
    expect(calls).toEqual(["warned", "ignored"]);
    expect(warnings).toHaveLength(1);
    const throwing = createEventHandler({ log, onUnknownEventName: "throw" });
    expect(() => throwing.on("unknown" as "push", () => undefined)).toThrow(/not a known/);
  });

  it("on() adds a handler once for each time that a name is listed", async () => {
    const { on, receive } = createEventHandler();
    let calls = 0;
    on(["issues", "issues", "issues.opened"], () => (calls += 1));
    await receive(opened);
    expect(calls).toBe(3);
  });
});

describe("removeListener", () => {
  it("removeListener() removes only the most recent registration", async () => {
    const { on, removeListener, receive } = createEventHandler();
    const calls: string[] = [];
    const twice = (): unknown => calls.push("twice");
    on("issues", twice);
    on("issues", () => calls.push("between"));
    on("issues", twice);
    removeListener("issues", twice);
    await receive(opened);
    expect(calls).toEqual(["twice", "between"]);
  });

  it("removeListener() accepts lists, *, error and unknown names", async () => {
    const { on, onAny, onError, removeListener, receive } = createEventHandler();
    const never = (): never => expect.unreachable();
    const fail = (): never => {
      throw new Error("x");
    };
    on(["issues", "issues.opened"], never);
    onAny(never);
    onError(never);
    removeListener(["issues", "issues.opened"], never);
    removeListener("*", never);
    removeListener("error", never);
    removeListener("unknown" as "push", never);
    on("issues", fail);
    await expect(receive(opened)).rejects.toThrow("x");
  });

  it("removeListener() applies to events that were dispatched before", async () => {
    const { on, removeListener, receive } = createEventHandler();
    let calls = 0;
    const count = (): unknown => (calls += 1);
    on("issues", count);
    await receive(opened);
    removeListener("issues", count);
    await receive(opened);
    on("issues", count);
    await receive(opened);
    expect(calls).toBe(2);
  });
});

describe("transform", () => {
  it.each([
    ["a value", (event: object) => ({ ...event, extra: 1 })],
    ["a promise", async (event: object) => ({ ...event, extra: 1 })],
  ])(
    "A transform passes %s to handlers of on, once for each, and not to onAny",
    async (_, transform) => {
      let calls = 0;
      const { on, onAny, receive } = createEventHandler({
        transform: (event) => {
          calls += 1;
          return transform(event);
        },
      });
      const seen: unknown[] = [];
      on(["issues", "issues.opened"], (event) => seen.push(event));
      onAny((event) => seen.push(event));
      await receive(opened);
      expect(seen).toHaveLength(3);
      expect(seen).toContain(opened);
      expect(seen.filter((event) => event !== opened)).toEqual([
        { ...opened, extra: 1 },
        { ...opened, extra: 1 },
      ]);
      expect(calls).toBe(2);
    },
  );

  it("A transform that fails is a failure of its handler", async () => {
    const { on, onError, receive } = createEventHandler({
      transform: () => {
        throw new Error("no transform");
      },
    });
    const told: unknown[] = [];
    onError((error) => told.push(error.event));
    on("issues", () => expect.unreachable());
    await expect(receive(opened)).rejects.toThrow("no transform");
    expect(told).toEqual([opened]);
  });
});

describe("validateEventName", () => {
  it.each(emitterEventNames)("validateEventName() accepts %s", (name) => {
    expect(() => validateEventName(name)).not.toThrow();
  });

  it.each(["unknown", "issues.unknown", "__proto__", "constructor", ""])(
    "validateEventName() throws for %j",
    (name) => {
      expect(() => validateEventName(name)).toThrow(TypeError);
      expect(() => validateEventName(name, { onUnknownEventName: "ignore" })).not.toThrow();
    },
  );

  it("validateEventName() warns through its log with onUnknownEventName warn", () => {
    const warnings: unknown[] = [];
    const log = { warn: (message: unknown) => warnings.push(message) };
    validateEventName("unknown", { onUnknownEventName: "warn", log });
    expect(warnings).toEqual(['"unknown" is not a known webhook name of vendor']);
  });

  it.each(["*", "error"])("validateEventName() always throws for %s", (name) => {
    for (const onUnknownEventName of ["throw", "warn", "ignore"] as const) {
      expect(() => validateEventName(name, { onUnknownEventName })).toThrow(
        /use on(Any|Error)\(\)/,
      );
    }
  });

  it("validateEventName() throws for a value that is not a string", () => {
    expect(() => validateEventName(5 as never)).toThrow("eventName must be of type string");
  });
});

describe("emitterEventNames", () => {
  it("emitterEventNames contains the 323 names once each, and is frozen", () => {
    expect(emitterEventNames).toHaveLength(323);
    expect(new Set(emitterEventNames).size).toBe(323);
    expect(Object.isFrozen(emitterEventNames)).toBe(true);
    expect(emitterEventNames.filter((name) => !name.includes("."))).toHaveLength(75);
  });

  it("emitterEventNames contains the names of the table", () => {
    expect(emitterEventNames).toEqual(
      expect.arrayContaining([
        "vendor_app_authorization.revoked",
        "repository_dispatch.sample",
        "ping",
      ]),
    );
  });
});
