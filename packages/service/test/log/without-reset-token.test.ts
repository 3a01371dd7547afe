import { describe, expect, it } from "vitest";
import { withoutResetToken } from "../../src/log/without-reset-token.ts";

const token = `${"A".repeat(21)}-_${"z".repeat(19)}1`;

/** Returns numbers from 0 to below 1 that look random and are the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("withoutResetToken()", () => {
  it.each([
    [`/password-resets/${token}`, "/password-resets/***"],
    [`/password-resets/${token}.`, "/password-resets/***"],
    [`/password-resets/${token}%20`, "/password-resets/***"],
    [`/password-resets//${token}/?x=1`, "/password-resets/***?x=1"],
    [`/password-resets%2F${token}`, "/password-resets/***"],
    [`/password-resets%252f${token}`, "/password-resets/***"],
    [`/Password%2DResets/${token}`, "/Password%2DResets/***"],
    [`/a/..;/password-resets;x=1/${token}`, "/a/..;/password-resets/***"],
    [`/email-changes/${token}`, "/email-changes/***"],
    [`/email%2Dchanges%2F${token}`, "/email%2Dchanges/***"],
    [`/password-resets/short`, "/password-resets/***"],
    [`https://app.example/reset/${token}#top`, "https://app.example/reset/***#top"],
  ])("shows %s as %s", (url, shown) => {
    expect(withoutResetToken(url)).toBe(shown);
  });

  it.each([
    "/password-resets",
    "/password-resets?email=a",
    "/articles/0198c0de-0000-7000-8000-000000000000?q=some",
    "/",
  ])("leaves %s as it is", (url) => {
    expect(withoutResetToken(url)).toBe(url);
  });

  it.each(["password-resets", "email-changes"])(
    "shows no token behind %s, however it is spelt",
    (name) => {
      const next = numbers(1);
      const spell = (text: string): string =>
        text.replace(/./g, (one) => {
          const cased = next() < 0.2 ? one.toUpperCase() : one;
          if (next() < 0.7) return cased;
          const code = cased.charCodeAt(0).toString(16);
          const percent = next() < 0.3 ? "%25" : "%";
          return percent + (next() < 0.5 ? code : code.toUpperCase());
        });
      const separators = ["/", "//", "%2F", "%2f", "%252F", "/./", "/;", "%20", ".", "/%00", "\\"];
      for (let round = 0; round < 5_000; round += 1) {
        const separator = separators[Math.floor(next() * separators.length)] ?? "/";
        const url = `/${spell(name)}${separator}${token}${next() < 0.5 ? "." : ""}`;
        expect(withoutResetToken(url)).not.toContain(token.slice(0, 8));
      }
    },
  );
});
