import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorTime } from "../../../kit/test/processor-time.ts";
import { parseChallenges } from "../../src/oidc/parse-challenges.ts";

const read = (field: string | null): readonly unknown[] =>
  parseChallenges(field).map(({ scheme, parameters, token68 }) => ({
    scheme,
    ...Object.fromEntries(parameters),
    ...(token68 !== undefined && { token68 }),
  }));

describe("parseChallenges", () => {
  it.each([
    ["no field", null],
    ["an empty field", ""],
    ["commas alone", " , ,, "],
    ["an unterminated quote", 'Bearer error="invalid_token'],
    ["a scheme that is not a token", "Bea(rer x=1"],
    ["a parameter without value", 'Bearer a="1", error='],
    ["two parameters without a comma", 'Bearer a="1" b="2"'],
    ["a parameter without scheme", '="x"'],
    ["quotes after a quoted value", 'Bearer a="1"x'],
    ["an oversized field", `Bearer a="${"x".repeat(20_000)}"`],
  ])("finds none in %s", (_case, field) => {
    expect(parseChallenges(field)).toEqual([]);
  });

  it.each([
    ["Bearer", [{ scheme: "bearer" }]],
    ["bearer realm=example", [{ scheme: "bearer", realm: "example" }]],
    [
      'Bearer realm="example", error="invalid_token", error_description="The token, it \\"expired\\""',
      [
        {
          scheme: "bearer",
          realm: "example",
          error: "invalid_token",
          error_description: 'The token, it "expired"',
        },
      ],
    ],
    [
      'Bearer error="insufficient_user_authentication", acr_values="a b", max_age="5"',
      [
        {
          scheme: "bearer",
          error: "insufficient_user_authentication",
          acr_values: "a b",
          max_age: "5",
        },
      ],
    ],
    [
      'DPoP error="use_dpop_nonce", algs="ES256", Bearer realm="x"',
      [
        { scheme: "dpop", error: "use_dpop_nonce", algs: "ES256" },
        { scheme: "bearer", realm: "x" },
      ],
    ],
    ["Negotiate YWJj==", [{ scheme: "negotiate", token68: "YWJj==" }]],
    [
      'Negotiate YWJj==, Basic realm="b"',
      [
        { scheme: "negotiate", token68: "YWJj==" },
        { scheme: "basic", realm: "b" },
      ],
    ],
    ["Basic, Bearer, DPoP", [{ scheme: "basic" }, { scheme: "bearer" }, { scheme: "dpop" }]],
    [
      ", Bearer ,realm = x ,, Basic realm=y",
      [
        { scheme: "bearer", realm: "x" },
        { scheme: "basic", realm: "y" },
      ],
    ],
    ["Bearer REALM=a, realm=b", [{ scheme: "bearer", realm: "a" }]],
    ['Bearer a=""', [{ scheme: "bearer", a: "" }]],
  ])("reads %s", (field, expected) => {
    expect(read(field)).toEqual(expected);
  });

  it("keeps __proto__ a parameter like others", () => {
    expect(parseChallenges('Bearer __proto__="x"')[0]?.parameters.get("__proto__")).toBe("x");
  });

  it("reads back whatever was written", () => {
    const name = fc.stringMatching(/^[a-z_]{1,10}$/);
    const challenge = fc.record({
      scheme: fc.stringMatching(/^[a-z]{1,10}$/),
      parameters: fc.dictionary(name, fc.string(), { minKeys: 1, maxKeys: 4 }),
    });
    fc.assert(
      fc.property(fc.array(challenge, { minLength: 1, maxLength: 4 }), (challenges) => {
        const field = challenges
          .map(({ scheme, parameters }) => {
            const texts = Object.entries(parameters).map(
              ([key, value]) => `${key}="${value.replace(/["\\]/g, "\\$&")}"`,
            );
            return `${scheme} ${texts.join(", ")}`;
          })
          .join(", ");
        expect(
          parseChallenges(field).map(({ scheme, parameters }) => ({
            scheme,
            parameters: Object.fromEntries(parameters),
          })),
        ).toEqual(
          challenges.map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } })),
        );
      }),
    );
  });

  it("never throws, and takes linear time: else this would take minutes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (field) => Array.isArray(parseChallenges(field))),
    );
    const hostile = [
      `Bearer ${"a=".repeat(500_000)}`,
      `Bearer ${"a".repeat(1_000_000)}`,
      " ,".repeat(500_000),
    ];
    const begun = processorTime();
    for (const field of hostile) parseChallenges(field);
    expect(processorTime(begun)).toBeLessThan(4_000);
  });
});
