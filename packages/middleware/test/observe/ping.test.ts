import { text, wrap } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { ping } from "../../src/observe/ping.ts";

const handler = wrap(() => text("next"), ping());

async function ask(method: string, path: string): Promise<[number, string | null, string]> {
  const response = await handler(new Request(`http://localhost${path}`, { method }));
  return [response.status, response.headers.get("content-type"), await response.text()];
}

describe("ping", () => {
  it("refuses a path without a slash", () => {
    expect(() => ping({ path: "ping" })).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([
    // Research A2.
    ["GET", "/ping", "pong"],
    ["GET", "/PING", "pong"],
    ["GET", "/v2/PING", "pong"],
    ["GET", "/v2/ping?a=b", "pong"],
    ["GET", "/v2/ping#a", "pong"],
    ["GET", "/%70ing", "pong"],
    ["HEAD", "/ping", ""],
  ])("responds to %s %s", async (method, path, body) => {
    expect(await ask(method, path)).toEqual([200, "text/plain", body]);
  });

  it.each([
    ["POST", "/ping"],
    ["OPTIONS", "/ping"],
    ["GET", "/blah"],
    ["GET", "/xping"],
    ["GET", "/ping/"],
    ["GET", "/?a=/ping"],
    ["GET", "/%zz/pin"],
  ])("passes %s %s to the handler", async (method, path) => {
    expect((await ask(method, path))[2]).toBe("next");
  });

  it("responds to another path", async () => {
    const handler = wrap(() => text("next"), ping({ path: "/alive" }));
    expect(await (await handler(new Request("http://localhost/api/alive"))).text()).toBe("pong");
    expect(await (await handler(new Request("http://localhost/ping"))).text()).toBe("next");
  });
});
