import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorTime } from "../../../../kit/test/processor-time.ts";
import { chooseEncoding } from "../../../src/content/compress/accept-encoding.ts";

/** Several fields arrive as one. */
const joined = (fields: readonly string[]): string | null => {
  const headers = new Headers();
  for (const field of fields) headers.append("accept-encoding", field);
  return headers.get("accept-encoding");
};

describe("A10: chooseEncoding() chooses gzip for", () => {
  it.each<{ fields: string[] }>([
    { fields: ["gzip"] },
    { fields: ["br, gzip"] },
    { fields: ["gzip;q=0.8"] },
    { fields: ["*"] },
    { fields: ["GZIP"] },
    { fields: ["deflate, gzip;q=1.0, *;q=0.5"] },
    { fields: ["*;q=0, gzip"] },
    { fields: ["*;q=0, gzip;q=1"] },
    { fields: ["br", "gzip"] },
    { fields: ["*;q=0", "gzip"] },
    { fields: ["br", "*"] },
    { fields: ["x-gzip"] },
    { fields: ["gzip ; q=0.001"] },
    { fields: ["gzip;Q=1.000"] },
    { fields: [",, ,gzip"] },
    { fields: ["gzip;x=1;q=0.5"] },
  ])("$fields", ({ fields }) => {
    expect(chooseEncoding(joined(fields), ["gzip"])).toBe("gzip");
  });
});

describe("A10: chooseEncoding() refuses gzip for", () => {
  it.each<{ fields: string[] }>([
    { fields: [] },
    { fields: [""] },
    { fields: ["identity"] },
    { fields: ["br"] },
    { fields: ["gzip;q=0"] },
    { fields: ["gzip;q=0.0"] },
    { fields: ["*;q=0"] },
    { fields: ["gzip;q=0, *;q=1"] },
    { fields: ["*;q=1, gzip;q=0"] },
    { fields: ["br;q=1, *;q=0"] },
    { fields: ["*;q=1", "gzip;q=0"] },
    { fields: ["br", "deflate"] },
    { fields: ["gzip;q=2"] },
    { fields: ["gzip;q=-1"] },
    { fields: ["gzip;q=0x1"] },
    { fields: ["gzip;q="] },
    { fields: ["gzip;q=1e3"] },
    { fields: ["gzip, gzip;q=0"] },
    { fields: ["gzipp"] },
  ])("$fields", ({ fields }) => {
    expect(chooseEncoding(joined(fields), ["gzip"])).toBeUndefined();
  });
});

const offered = ["zstd", "br", "gzip"] as const;

describe("chooseEncoding()", () => {
  it.each([
    [null, undefined],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["*", "zstd"],
    ["*, zstd;q=0", "br"],
    ["identity", undefined],
    ["gzip;q=0.5, identity", undefined],
    ["gzip;q=0.5, identity;q=0.5", "gzip"],
    ["deflate", undefined],
  ])("chooses for %s: %s", (field, expected) => {
    expect(chooseEncoding(field, offered)).toBe(expected);
  });

  const coding = fc.constantFrom("gzip", "br", "zstd", "deflate", "identity", "*", "GZIP", "Br");
  const weight = fc.constantFrom("", ";q=0", ";q=0.0", ";q=0.3", "; q=0.5", ";q=1", ";q=1.000");
  const element = fc.record({ coding, weight });
  const list = fc.uniqueArray(element, { selector: (entry) => entry.coding.toLowerCase() });
  const written = list.map((entries) =>
    entries.map((entry) => entry.coding + entry.weight).join(", "),
  );

  it("accepts exactly what negotiator accepts", () => {
    const require = createRequire(import.meta.url);
    const Negotiator = require("negotiator") as new (request: {
      readonly headers: Readonly<Record<string, string>>;
    }) => { encodings(available: readonly string[]): string[] };
    fc.assert(
      fc.property(written, fc.constantFrom(...offered), (field, wanted) => {
        // It ignores the weight of identity when it is not asked for it.
        fc.pre(!field.includes("identity"));
        const oracle = new Negotiator({ headers: { "accept-encoding": field } });
        expect(chooseEncoding(field, [wanted])).toBe(oracle.encodings([wanted])[0]);
      }),
    );
  });

  it("never chooses a coding that is not accepted or has a lower weight than another", () => {
    fc.assert(
      fc.property(list, (entries) => {
        const field = entries.map((entry) => entry.coding + entry.weight).join(",");
        const weightOf = (name: string): number => {
          const found =
            entries.find((entry) => entry.coding.toLowerCase() === name) ??
            entries.find((entry) => entry.coding === "*");
          return found === undefined ? 0 : Number(found.weight.split("=")[1] ?? 1);
        };
        const chosen = chooseEncoding(field, offered);
        const best = Math.max(...offered.map(weightOf));
        const plain = entries.find((entry) => entry.coding === "identity");
        if (chosen === undefined) {
          expect(best === 0 || (plain && weightOf("identity") > best)).toBe(true);
        } else {
          expect(weightOf(chosen)).toBe(best);
          expect(best).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("accepts any text, and reads a long one in linear time, or this would take minutes", () => {
    fc.assert(
      fc.property(fc.string(), (field) => {
        expect([undefined, ...offered]).toContain(chooseEncoding(field, offered));
      }),
    );
    const begun = processorTime();
    for (const part of [",", ";", "gzip;q=", "gzip;q=0.", " ", "*;", "q=1;"]) {
      chooseEncoding(part.repeat(1_000_000 / part.length), offered);
    }
    expect(processorTime(begun)).toBeLessThan(4_000);
  });
});
