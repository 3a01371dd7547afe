import { text, wrap } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import type { PolicyDirectives } from "../../src/content/content-security-policy.ts";
import { cspNonceKey, secure } from "../../src/index.ts";

const request = (): Request => new Request("http://localhost/");

async function policyOf(directives: PolicyDirectives): Promise<string | null> {
  const handler = wrap(() => text("ok"), secure({ contentSecurityPolicy: { directives } }));
  const { headers } = await handler(request());
  return headers.get("content-security-policy");
}

describe("secure() with directives", () => {
  it("writes directives in their order", async () => {
    expect(
      await policyOf({
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "https://cdn.example.com"],
        "upgrade-insecure-requests": true,
        "object-src": "'none'",
        "font-src": false,
      }),
    ).toBe(
      "default-src 'self'; img-src 'self' data: https://cdn.example.com; upgrade-insecure-requests; object-src 'none'",
    );
  });

  it("makes a separate nonce for each request, which the handler finds in the context", async () => {
    const handler = wrap(
      (_, context) => text(String(context.get(cspNonceKey))),
      secure({
        contentSecurityPolicy: {
          directives: { "script-src": ["'nonce'", "'strict-dynamic'"], "style-src": ["'nonce'"] },
        },
      }),
    );
    const nonces = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const response = await handler(request());
      const nonce = await response.text();
      nonces.add(nonce);
      expect(atob(nonce)).toHaveLength(16);
      expect(response.headers.get("content-security-policy")).toBe(
        `script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'`,
      );
    }
    expect(nonces.size).toBe(3);
  });

  it("leaves the policy of the handler alone", async () => {
    const handler = wrap(
      () => text("ok", { headers: { "content-security-policy": "default-src 'none'" } }),
      secure({ contentSecurityPolicy: { directives: { "default-src": ["'self'"] } } }),
    );
    const { headers } = await handler(request());
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
  });

  const wrong: readonly [object, string][] = [
    [{}, "at least one directive"],
    [{ defaultSrc: ["'self'"] }, "default-src"],
    [{ "script-source": ["'self'"] }, "the name of a directive"],
    [{ "script-src": ["self"] }, "with its quotes"],
    [{ "script-src": ["'self'; object-src *"] }, "without spaces"],
    [{ "script-src": ["a,b"] }, "without spaces"],
    [{ "script-src": [""] }, "without spaces"],
    [{ "script-src": 5 }, "a list of sources"],
  ];
  it.each(wrong)("refuses the directives %j", (directives, message) => {
    expect(() => secure({ contentSecurityPolicy: { directives } })).toThrow(message);
  });
});
