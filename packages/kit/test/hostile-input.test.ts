import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorTime } from "./processor-time.ts";
import {
  closestName,
  decodeBase64,
  describeValue,
  encodeBase64,
  formatBasicCredentials,
  formatIP,
  isInRange,
  isPublicAddress,
  isSecretName,
  maskForm,
  maskHeaders,
  maskJson,
  maskUrl,
  parseBasicCredentials,
  parseIP,
  parseIPRange,
  parseRetryAfter,
  requestedDelay,
} from "../src/index.ts";

/** Any text, also with lone surrogates, and text that consists of what parsers look for. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 64 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    maxLength: 64,
  }),
  fc
    .array(
      fc.constantFrom(
        ..."Basic |Basic YTpi|=|==|0|1|255|.|:|::|/|%|%00|%zz|?|#|&|;|@|//|token|ffff|\0|\r\n|GMT|Sat, ".split(
          "|",
        ),
      ),
      { maxLength: 24 },
    )
    .map((parts) => parts.join("")),
);

describe("a parser of hostile text", () => {
  it("parseBasicCredentials() returns credentials that format to an equal header, or undefined", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const header of [
          text,
          `Basic ${text}`,
          `Basic ${Buffer.from(text).toString("base64")}`,
        ]) {
          const credentials = parseBasicCredentials(header);
          if (credentials === undefined) continue;
          expect(parseBasicCredentials(formatBasicCredentials(credentials))).toEqual(credentials);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("decodeBase64() returns the bytes of exactly this text, or undefined", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const bytes = decodeBase64(text);
        // Digits before the padding may have bits that no byte uses.
        if (bytes !== undefined) expect(encodeBase64(bytes)).toHaveLength(text.length);
      }),
      { numRuns: 2000 },
    );
  });

  it("parseIP() and parseIPRange() agree on addresses, and ranges contain their start", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const address = parseIP(text);
        const range = parseIPRange(text);
        if (address !== undefined) {
          expect(parseIP(formatIP(address))).toEqual(address);
          expect(range !== undefined && isInRange(address, range)).toBe(true);
        } else {
          expect(isPublicAddress(text)).toBe(false);
        }
        if (range !== undefined) expect(isInRange(range.start, range)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it("parseRetryAfter() and requestedDelay() return a finite delay of at least 0, or undefined", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const delay of [
          parseRetryAfter(text),
          requestedDelay({ status: 429, headers: { get: () => text } }),
        ]) {
          expect(delay === undefined || (Number.isFinite(delay) && delay >= 0)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("maskUrl(), maskForm() and maskHeaders() never throw, and mask what is masked already to itself", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const url = maskUrl(text);
        expect(maskUrl(url)).toBe(url);
        const form = maskForm(text);
        expect(maskForm(form)).toBe(form);
        expect(typeof maskHeaders([["location", text]])["location"]).toBe("string");
        expect(maskHeaders([["authorization", text]])["authorization"]).toBe("***");
      }),
      { numRuns: 5000 },
    );
  });

  it("maskJson() keeps the names of a value, and masks every secret member", () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (inner, secret) => {
        const masked = maskJson({ inner, deep: [{ token: secret }] }) as Record<string, unknown>;
        expect(Object.keys(masked)).toEqual(["inner", "deep"]);
        expect(masked["deep"]).toEqual([{ token: "***" }]);
      }),
    );
  });

  it("describeValue(), closestName() and isSecretName() never throw", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        hostile,
        (value, text) => {
          expect(describeValue(value).length).toBeLessThanOrEqual(602);
          expect(describeValue(text).length).toBeLessThanOrEqual(602);
          expect(["verify", undefined]).toContain(closestName(text, ["verify"]));
          expect(typeof isSecretName(text)).toBe("boolean");
        },
      ),
    );
  });

  it.each([
    ["parseIP", parseIP],
    ["parseIPRange", parseIPRange],
    ["parseBasicCredentials", parseBasicCredentials],
    ["parseRetryAfter", parseRetryAfter],
    ["isSecretName", isSecretName],
    ["maskUrl", maskUrl],
    ["maskForm", maskForm],
    ["decodeBase64", decodeBase64],
  ] as const)("%s() runs in a time proportional to the length of the text", (_, parse) => {
    const started = processorTime();
    for (const part of ["a", "0", ":", "Basic ", " ", "%", "token=", "/", "-auth", "["]) {
      parse(part.repeat(100_000));
    }
    // A time that grows with the square would be minutes.
    expect(processorTime(started)).toBeLessThan(5_000);
  });
});
