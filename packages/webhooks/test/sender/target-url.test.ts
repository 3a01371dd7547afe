import { describe, expect, it } from "vitest";
import { checkTarget } from "../../src/node/sender/target-url.ts";

const strict = { allowHttp: false };

describe("checkTarget", () => {
  it.each([
    [undefined, "no absolute URL"],
    [5, "no absolute URL"],
    ["", "no absolute URL"],
    ["/hooks", "no absolute URL"],
    ["https://", "no absolute URL"],
    [`https://example.com/${"a".repeat(2048)}`, "no absolute URL"],
    ["http://example.com/", "not https"],
    ["ftp://example.com/", "not https"],
    ["file:///etc/passwd", "not https"],
    ["javascript:alert(1)", "not https"],
    ["https://user:pass@example.com/", "credentials"],
    ["https://user@example.com/", "credentials"],
  ])("refuses %j", (url, reason) => {
    expect(() => checkTarget(url, strict)).toThrow(
      expect.objectContaining({
        code: "ERR_WEBHOOKS_TARGET",
        message: expect.stringContaining(reason),
      }),
    );
  });

  it("gives the normal form without the fragment", () => {
    expect(checkTarget("HTTPS://Example.COM:443/a/../b?c#d", strict)).toBe(
      "https://example.com/b?c",
    );
    expect(checkTarget("http://example.com", { allowHttp: true })).toBe("http://example.com/");
  });
});
