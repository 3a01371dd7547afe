import { describe, expect, it } from "vitest";
import { checkTarget } from "../../../src/node/sender/endpoints/target-url.ts";

const strict = { allowHttp: false, allowPrivate: false };

describe("checkTarget", () => {
  it.each([
    [undefined, "absolute URL"],
    [5, "absolute URL"],
    ["", "absolute URL"],
    ["/hooks", "absolute URL"],
    ["https://", "absolute URL"],
    [`https://example.com/${"a".repeat(2048)}`, "absolute URL"],
    ["http://example.com/", "expected https"],
    ["ftp://example.com/", "expected https"],
    ["file:///etc/passwd", "expected https"],
    ["javascript:alert(1)", "expected https"],
    ["https://user:pass@example.com/", "credentials"],
    ["https://user@example.com/", "credentials"],
    ["https://127.0.0.1/", "not public"],
    ["https://2130706433/", "not public"],
    ["https://[::1]:8443/", "not public"],
    ["https://169.254.169.254/latest/meta-data", "not public"],
  ])("checkTarget() refuses %j", (url, reason) => {
    expect(() => checkTarget(url, strict)).toThrow(
      expect.objectContaining({
        code: "ERR_WEBHOOKS_TARGET",
        message: expect.stringContaining(reason),
      }),
    );
  });

  it("checkTarget() returns the normalized URL without its fragment", () => {
    expect(checkTarget("HTTPS://Example.COM:443/a/../b?c#d", strict)).toBe(
      "https://example.com/b?c",
    );
    const open = { allowHttp: true, allowPrivate: true };
    expect(checkTarget("http://example.com", open)).toBe("http://example.com/");
  });

  it.each(["https://8.8.8.8/", "https://[2606:4700::1111]/"])(
    "checkTarget() accepts the address %s",
    (url) => {
      expect(checkTarget(url, strict)).toBe(url);
    },
  );

  it("checkTarget() accepts private addresses with allowPrivate", () => {
    const rules = { allowHttp: false, allowPrivate: true };
    expect(checkTarget("https://10.0.0.1/x", rules)).toBe("https://10.0.0.1/x");
  });
});
