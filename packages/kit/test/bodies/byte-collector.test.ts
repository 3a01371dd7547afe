import { expect, it } from "vitest";
import fc from "fast-check";
import { ByteCollector } from "../../src/index.ts";

it("ByteCollector joins chunks of any size in their order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(70_000), { maxLength: 12 }), (lengths) => {
      const collector = new ByteCollector();
      const chunks = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
      for (const chunk of chunks) collector.add(chunk);
      expect(collector.size).toBe(lengths.reduce((sum, length) => sum + length, 0));
      expect(Buffer.compare(collector.join(), Buffer.concat(chunks))).toBe(0);
    }),
    { numRuns: 50 },
  );
});

it("ByteCollector does not copy a single chunk", () => {
  const collector = new ByteCollector();
  const chunk = new Uint8Array(5_000);
  collector.add(chunk);
  expect(collector.join().buffer).toBe(chunk.buffer);
});

it("ByteCollector never writes into a chunk", () => {
  const collector = new ByteCollector();
  const memory = new Uint8Array(10);
  collector.add(memory.subarray(0, 5));
  collector.add(Uint8Array.of(1, 2, 3));
  expect(memory).toEqual(new Uint8Array(10));
});

it("ByteCollector keeps only the first chunk, so that small chunks take no extra memory", () => {
  const collector = new ByteCollector();
  const chunk = Uint8Array.of(1);
  collector.add(Uint8Array.of(1));
  for (let count = 1; count < 200_000; count += 1) collector.add(chunk);
  chunk[0] = 2;
  const whole = collector.join();
  expect(whole).toHaveLength(200_000);
  expect(whole.every((byte) => byte === 1)).toBe(true);
});
