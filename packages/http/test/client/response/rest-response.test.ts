import { inspect } from "node:util";
import { buildResponse, type RestResponse } from "@fetchwork/http";
import type { HeaderList } from "../../../src/client/transport/transport.ts";
import { describe, expect, it } from "vitest";

function respond(body: string | Uint8Array, headers: HeaderList = []): RestResponse {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return buildResponse({ status: 200, headers, body: bytes });
}

describe("a response", () => {
  it("has the status, the body as text, and headers by name with lists of values", () => {
    const response = respond("ü", ["content-type", "text/plain", "X-Multi", "a", "x-multi", "b"]);
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe("ü");
    expect(response.headers).toEqual({ "Content-Type": ["text/plain"], "X-Multi": ["a", "b"] });
  });

  it.each([
    ["x-ratelimit-limit", "X-Ratelimit-Limit"],
    ["ETag", "Etag"],
    ["WWW-Authenticate", "Www-Authenticate"],
  ])("writes the name %s as %s, and finds it in any case", (given, canonical) => {
    const { headers } = respond("", [given, "1"]);
    expect(Object.keys(headers)).toEqual([canonical]);
    expect([headers[given], headers[given.toUpperCase()], given in headers]).toEqual([
      ["1"],
      ["1"],
      true,
    ]);
  });

  it("has no header that the server did not send, whatever its name is", () => {
    const response = respond("", ["__proto__", "1"]);
    expect(response.headers["constructor"]).toBeUndefined();
    expect(response.headers["toString"]).toBeUndefined();
    expect(response.header("__proto__")).toBe("1");
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });

  it("cannot be changed through its headers", () => {
    const headers = respond("", ["a", "1"]).headers as Record<string, readonly string[]>;
    expect(() => (headers["a"] = [])).toThrow(TypeError);
    expect(() => delete headers["A"]).toThrow(TypeError);
  });

  it("joins the values of a header that is asked for", () => {
    const response = respond("", ["a", "1", "A", "2"]);
    expect(response.header("A")).toBe("1, 2");
    expect(response.header("b")).toBeUndefined();
  });

  it("shows bytes that are not UTF-8 as U+FFFD, and returns them as they are", () => {
    const bytes = new Uint8Array([0x61, 0xff]);
    const response = respond(bytes);
    expect(response.body).toBe("a\ufffd");
    expect(response.bytes()).toBe(bytes);
  });

  it("reads JSON, also after a byte order mark", () => {
    expect(respond('\ufeff{"a":1}').json()).toEqual({ a: 1 });
    expect(() => respond("<html>").json()).toThrow(SyntaxError);
  });

  it("is written as JSON with the members of the specification", () => {
    expect(JSON.parse(JSON.stringify(respond("x", ["a", "1"])))).toEqual({
      statusCode: 200,
      body: "x",
      headers: { A: ["1"] },
    });
  });

  it("shows neither its body nor its secrets on consoles", () => {
    const shown = inspect(
      respond("hunter2", ["set-cookie", "sid=hunter2", "x-auth-token", "hunter2"]),
    );
    expect(shown).toContain("Set-Cookie");
    expect(shown).not.toContain("hunter2");
  });
});
