import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, encodeBase64, encodeBase64Url } from "../../src/credentials/base64.ts";

describe("decodeBase64", () => {
  it.each([
    "=",
    "==",
    "====",
    "A",
    "AA",
    "AAA",
    "A===",
    "AA=",
    "AAA==",
    "AAAA=",
    "AA==AAAA",
    "AAA=AAA=",
    "AA A",
    " AAAA",
    "AAAA ",
    "AAAA\n",
    "AA\n==",
    "AA-A",
    "AA_A",
    "AAÄA",
    "AAA\0",
  ])("rejects %j", (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it("decodes what encodeBase64() and Node encode", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString("base64"));
        expect(decodeBase64(text)).toEqual(Uint8Array.from(bytes));
      }),
    );
  });

  it("decodes many megabytes without overflowing the stack", () => {
    const bytes = Uint8Array.from(Buffer.alloc(12_000_001, "0123456789"));
    const text = encodeBase64(bytes);
    expect(text).toBe(Buffer.from(bytes).toString("base64"));
    const decoded = decodeBase64(text) ?? new Uint8Array();
    expect(Buffer.compare(decoded, bytes)).toBe(0);
    expect(decodeBase64(`${text.slice(0, -5)}!${text.slice(-4)}`)).toBeUndefined();
  });
});

it("encodeBase64Url() encodes as Node does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
    }),
  );
});
