import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteCollector } from "../src/byte-collector.ts";

describe("ByteCollector", () => {
  it("joins any chunks, and changes none", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 12 }), (chunks) => {
        const before = chunks.map((chunk) => Buffer.from(chunk));
        const bytes = new ByteCollector();
        for (const chunk of chunks) bytes.add(chunk);
        const whole = Buffer.concat(before);
        expect(bytes.size).toBe(whole.length);
        expect(Buffer.compare(bytes.join(), whole)).toBe(0);
        expect(chunks.map((chunk) => Buffer.from(chunk))).toEqual(before);
      }),
    );
  });

  it("does not copy a body of one chunk", () => {
    const bytes = new ByteCollector();
    const chunk = Buffer.from("whole");
    bytes.add(new Uint8Array(0));
    bytes.add(chunk);
    expect(bytes.join().buffer).toBe(chunk.buffer);
  });

  it("takes at most twice the size of many small chunks", () => {
    const bytes = new ByteCollector();
    for (let n = 0; n < 200_000; n += 1) bytes.add(Uint8Array.of(n % 256));
    expect(bytes.join().buffer.byteLength).toBeLessThanOrEqual(400_000);
    expect([...bytes.join().subarray(254, 258)]).toEqual([254, 255, 0, 1]);
  });
});
