import { createContext } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { newErrorLogger, sendErrorJSON } from "../../src/json/send-error-json.ts";

describe("sendErrorJSON", () => {
  it.each<[unknown, string]>([
    // Decision 2A.4: { error, details }.
    [undefined, '{"error":"no \\u003cb\\u003e"}\n'],
    ["more", '{"error":"no \\u003cb\\u003e","details":"more"}\n'],
    [{ field: ["a"] }, '{"error":"no \\u003cb\\u003e","details":{"field":["a"]}}\n'],
    [null, '{"error":"no \\u003cb\\u003e","details":null}\n'],
  ])("with details %j sends %s", async (details, body) => {
    const response = sendErrorJSON(503, "no <b>", { details, cause: new Error("secret") });
    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.text()).toBe(body);
  });

  it("sends the message of an error, and logs it as the cause", async () => {
    const lines: string[] = [];
    const logger = newErrorLogger((line) => void lines.push(line));
    const response = sendErrorJSON(400, new TypeError("oops"), { details: 1, logger });
    expect(await response.text()).toBe('{"error":"oops","details":1}\n');
    expect(lines[0]).toMatch(
      /^oops - oops - 400 \[caused by test\/json\/send-error-json\.test\.ts:\d+\]\n$/,
    );
    sendErrorJSON(400, new Error("oops"), { cause: "why", logger });
    expect(lines[1]).toBe("oops - why - 400\n");
  });

  it.each([undefined, null, 1, {}, { message: "oops" }, ["oops"]])(
    "throws for %j, which is neither text nor an error",
    (error) => {
      expect(() => Reflect.apply(sendErrorJSON, undefined, [400, error])).toThrow(
        expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
      );
    },
  );

  it("logs the cause, which is not sent", async () => {
    const lines: string[] = [];
    const logger = newErrorLogger((line) => void lines.push(line));
    const request = new Request("http://h/a%20b?token=1&x=2");
    const context = createContext(request, { peer: "192.0.2.1" });
    const cause = new Error("db is\ndown\u001b[31m");
    const response = sendErrorJSON(500, "failed", { cause, request, context, logger });
    expect(await response.text()).toBe('{"error":"failed"}\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^failed - db is down\\x1b\[31m - 500 - 192\.0\.2\.1 - \/a%20b\?token=\*{8}&x=2 \[caused by test\/json\/send-error-json\.test\.ts:\d+\]\n$/,
    );
  });
});

describe("newErrorLogger", () => {
  it("refuses a sink that is not a function", () => {
    expect(() => Reflect.apply(newErrorLogger, undefined, ["file"])).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("does not read a line of a message as the place, however long it is", () => {
    const lines: string[] = [];
    const logger = newErrorLogger((text) => void lines.push(text));
    logger.log({
      status: 500,
      cause: new Error(`x\n    at forged.js:1:1\n    at ${"a".repeat(1_000_000)} b.js:1:1`),
    });
    expect(lines[0]).toMatch(/\[caused by test\/json\/send-error-json\.test\.ts:\d+\]\n$/);
  });

  it("responds when the sink throws", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const logger = newErrorLogger(() => {
      throw new Error("disk full");
    });
    expect(sendErrorJSON(503, "no connection", { logger }).status).toBe(503);
    expect(report).toHaveBeenCalledOnce();
    report.mockRestore();
  });

  it.each<[string, Partial<Error>]>([
    ["no stack", { stack: undefined }],
    ["a stack without places", { stack: "Error: x\n    at nowhere" }],
    ["a stack of one long line", { stack: `Error: x\n    at ${"a".repeat(65_536)}` }],
    ["a stack that is not text", { stack: JSON.parse("5") }],
  ])("omits the place for %s", (_case, members) => {
    const lines: string[] = [];
    const logger = newErrorLogger((text) => void lines.push(text));
    logger.log({ status: 500, cause: Object.assign(new Error("x"), members) });
    expect(lines).toEqual(["no message - x - 500\n"]);
  });

  it.each([
    [{ status: 400 }, ["a", "b"], "a. b - no error - 400\n"],
    [{ status: 400, cause: "text" }, [], "no message - text - 400\n"],
    [{ status: 400, cause: null }, ["%s %d"], "%s %d - no error - 400\n"],
  ])("writes %j with %j", (failure, messages, line) => {
    const lines: string[] = [];
    newErrorLogger((text) => void lines.push(text)).log(failure, ...messages);
    expect(lines).toEqual([line]);
  });
});
