import { expect, it } from "vitest";
import fc from "fast-check";
import { GatheredBytes } from "../../src/client/gathered-bytes.ts";

it("gives what was added, in its order, however it was cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(70_000), { maxLength: 12 }), (lengths) => {
      const gathered = new GatheredBytes();
      const pieces = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
      for (const piece of pieces) gathered.add(piece);
      expect(gathered.size).toBe(lengths.reduce((sum, length) => sum + length, 0));
      expect(Buffer.compare(gathered.join(), Buffer.concat(pieces))).toBe(0);
    }),
    { numRuns: 50 },
  );
});

it("does not copy a single piece that is not small", () => {
  const gathered = new GatheredBytes();
  const piece = new Uint8Array(5_000);
  gathered.add(piece);
  expect(gathered.join()).toBe(piece);
});

it("keeps no piece that is small", () => {
  const gathered = new GatheredBytes();
  const piece = Uint8Array.of(1);
  for (let count = 0; count < 200_000; count += 1) gathered.add(piece);
  piece[0] = 2;
  const whole = gathered.join();
  expect(whole).toHaveLength(200_000);
  expect(whole.every((byte) => byte === 1)).toBe(true);
});
