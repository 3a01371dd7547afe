import { text, wrap, type Middleware } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { maybe } from "../../src/compose/maybe.ts";
import { reject } from "../../src/access/reject.ts";

const request = (): Request => new Request("http://localhost/");

describe("wrap", () => {
  const header =
    (name: string): Middleware =>
    (next) =>
    async (request, context) => {
      const response = await next(request, context);
      return text(`${name}(${await response.text()})`);
    };

  it.each([
    // Research A1.
    [[], "h"],
    [[header("m1"), header("m2")], "m1(m2(h))"],
  ])("puts the first middleware outermost, %#", async (middlewares, body) => {
    expect(await (await wrap(() => text("h"), ...middlewares)(request())).text()).toBe(body);
  });
});

describe("maybe", () => {
  const marks: Middleware = () => () => text("marked");

  it.each([
    // Research A1.
    [true, "marked"],
    [false, "plain"],
  ])("with a condition of %s responds with %s", async (allowed, body) => {
    for (const condition of [() => allowed, async () => allowed]) {
      const handler = wrap(() => text("plain"), maybe(marks, condition));
      expect(await (await handler(request())).text()).toBe(body);
    }
  });

  it("builds the middleware once and calls the condition once per request", async () => {
    const build = vi.fn(marks);
    const condition = vi.fn(() => true);
    const handler = wrap(() => text("plain"), maybe(build, condition));
    await handler(request());
    await handler(request());
    expect(build).toHaveBeenCalledTimes(1);
    expect(condition).toHaveBeenCalledTimes(2);
  });

  it("fails the request when the condition throws", () => {
    const handler = vi.fn(() => text("plain"));
    const condition = () => {
      throw new Error("broken");
    };
    expect(() => wrap(handler, maybe(marks, condition))(request())).toThrow("broken");
    expect(handler).not.toHaveBeenCalled();
  });

  it("refuses what is not a function", () => {
    expect(() => Reflect.apply(maybe, undefined, [marks])).toThrow(
      /condition must be .*, got undefined/,
    );
    expect(() => Reflect.apply(maybe, undefined, ["gzip", () => true])).toThrow(
      /middleware must be .*, got "gzip"/,
    );
    expect(() => Reflect.apply(reject, undefined, [403, "no"])).toThrow(
      /condition must be .*, got undefined/,
    );
    expect(() => Reflect.apply(reject, undefined, [403, 7, () => true])).toThrow(
      /message must be .*, got 7/,
    );
  });
});

describe("reject", () => {
  it.each([200, 599])("accepts the status %s", async (status) => {
    const response = await wrap(
      () => text("next"),
      reject(status, "x", () => true),
    )(request());
    expect(response.status).toBe(status);
  });

  it.each([204, 205, 304, 99, 199, 600, 403.5, Number.NaN])("refuses the status %s", (status) => {
    expect(() => reject(status, "x", () => true)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([
    // Research A1.
    ["now", () => true],
    ["later", async () => true],
  ])("responds with its status and message when the condition is true %s", async (_, condition) => {
    const next = vi.fn(() => text("next"));
    const response = await wrap(next, reject(403, "no no", condition))(request());
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toBe("no no\n");
    expect(next).not.toHaveBeenCalled();
  });

  it.each([
    ["now", () => false],
    ["later", async () => false],
  ])("passes when the condition is false %s", async (_, condition) => {
    const response = await wrap(() => text("next"), reject(403, "no", condition))(request());
    expect(await response.text()).toBe("next");
  });
});
