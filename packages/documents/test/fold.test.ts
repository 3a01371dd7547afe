import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold } from "../src/document/fold.ts";

describe("Folding", () => {
  it("makes of ASCII what it makes of it among other text", () => {
    const ascii = fc.string({ unit: "binary-ascii" });
    fc.assert(
      fc.property(ascii, (text) => {
        expect(`${fold(text)}\n日`).toBe(fold(`${text}\n日`));
      }),
    );
  });

  it("makes words alike that differ in case, accents, the final sigma, or the sharp s", () => {
    expect(fold("ŽIŽKA Straße ΟΔΌΣ ﬁn")).toBe("zizka strasse οδοσ fin");
    expect(fold("PLAIN Text 1")).toBe("plain text 1");
  });
});
