import { calculatePKCECodeChallenge } from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { codeChallenge, randomValue } from "../../src/oidc/index.ts";

describe("codeChallenge", () => {
  it("computes the example of RFC 7636, appendix B", async () => {
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    expect(await codeChallenge(verifier)).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  });

  it("computes what oauth4webapi computes", async () => {
    const verifier = randomValue();
    expect(await codeChallenge(verifier)).toBe(await calculatePKCECodeChallenge(verifier));
  });
});

describe("randomValue", () => {
  it("makes 43 characters that are allowed in a code verifier, never the same", () => {
    const values = Array.from({ length: 200 }, randomValue);
    expect(new Set(values).size).toBe(200);
    for (const value of values) expect(value).toMatch(/^[A-Za-z\d_-]{43}$/);
  });
});
