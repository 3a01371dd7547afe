import { describe, expect, it } from "vitest";
import { exposedResponse } from "../../src/index.ts";

function errorWith(fields: object): Error {
  return Object.assign(new Error("the date is invalid"), fields);
}

describe("exposedResponse()", () => {
  it.each([
    ["has a status only, as errors of clients do", errorWith({ status: 404 })],
    ["is exposed without a status", errorWith({ expose: true })],
    ["has a status below 400", errorWith({ status: 304, expose: true })],
    ["has a status above 599", errorWith({ status: 600, expose: true })],
    ["has a status as text", errorWith({ status: "400", expose: true })],
    ["is exposed by something other than true", errorWith({ status: 400, expose: 1 })],
    ["is not an Error", { status: 400, expose: true, message: "x" }],
    ["is undefined", undefined],
    [
      "throws when it is read",
      Object.defineProperty(new Error("x"), "expose", {
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("returns undefined when the error %s", (_, error) => {
    expect(exposedResponse(error)).toBeUndefined();
  });

  it("responds with the status and the message of the error, as JSON that is not cached", async () => {
    const response = exposedResponse(errorWith({ status: 422, expose: true }));
    expect(response?.status).toBe(422);
    expect(await response?.json()).toEqual({ error: "the date is invalid" });
    expect(Object.fromEntries(response?.headers ?? [])).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
    });
  });

  it("responds with the code of the error when it is text", async () => {
    const response = exposedResponse(errorWith({ status: 400, expose: true, code: "ERR_DATE" }));
    expect(await response?.json()).toEqual({ error: "the date is invalid", code: "ERR_DATE" });
    const other = exposedResponse(errorWith({ status: 400, expose: true, code: 7 }));
    expect(await other?.json()).toEqual({ error: "the date is invalid" });
  });

  it("sends the headers of the error, except invalid ones and those that describe the body", () => {
    const response = exposedResponse(
      errorWith({
        status: 503,
        expose: true,
        headers: {
          "Retry-After": "5",
          "Cache-Control": "max-age=1",
          "Content-Type": "text/html",
          "Content-Length": "1",
          "Content-Encoding": "gzip",
          "X-Split": "a\r\nSet-Cookie: b",
          "X Y": "a",
          "X-Number": 7,
        },
      }),
    );
    expect(Object.fromEntries(response?.headers ?? [])).toEqual({
      "cache-control": "max-age=1",
      "content-type": "application/json",
      "retry-after": "5",
      "x-content-type-options": "nosniff",
    });
  });

  it.each([
    ["a list", ["retry-after", "5"]],
    ["Headers", new Headers({ "retry-after": "5" })],
    ["text", "retry-after: 5"],
    ["null", null],
  ])("ignores headers of the error that are %s", (_, headers) => {
    const response = exposedResponse(errorWith({ status: 503, expose: true, headers }));
    expect(response?.headers.has("retry-after")).toBe(false);
  });
});
