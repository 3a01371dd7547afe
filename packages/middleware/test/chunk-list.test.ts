import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChunkList } from "../src/chunk-list.ts";

describe("ChunkList", () => {
  it("keeps all bytes in their order, whatever the sizes of the chunks", () => {
    const chunk = fc
      .tuple(fc.constantFrom(0, 1, 2, 100, 4095, 4096, 5000, 20_000), fc.nat(255))
      .map(([size, value]) => new Uint8Array(size).fill(value));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 60 }), (chunks) => {
        const list = new ChunkList();
        for (const one of chunks) list.add(one);
        const expected = Buffer.concat(chunks);
        expect(list.size).toBe(expected.byteLength);
        expect(Buffer.compare(Buffer.concat(list.take()), expected)).toBe(0);
      }),
    );
  });

  it("does not copy a few chunks, nor large ones", () => {
    const list = new ChunkList();
    const chunks = Array.from({ length: 20 }, (_, index) =>
      new Uint8Array(index < 10 ? 1 : 4096).fill(index),
    );
    for (const one of chunks) list.add(one);
    const taken = list.take();
    expect(taken).toHaveLength(20);
    for (const [index, one] of chunks.entries()) expect(taken[index]).toBe(one);
  });

  it("makes few chunks of a million of one byte", () => {
    const list = new ChunkList();
    for (let index = 0; index < 1_000_000; index += 1) list.add(Uint8Array.of(index));
    const taken = list.take();
    expect(list.size).toBe(1_000_000);
    expect(taken.length).toBeLessThan(100);
    expect(taken.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).toBeLessThan(1_100_000);
  });

  it("does not change a chunk after it was taken", () => {
    const list = new ChunkList();
    for (let index = 0; index < 20; index += 1) list.add(Uint8Array.of(index));
    const before = Buffer.concat(list.take()).toString("hex");
    const first = list.take();
    list.add(Uint8Array.of(99));
    list.add(new Uint8Array(5000).fill(98));
    expect(Buffer.concat(first).toString("hex").startsWith(before)).toBe(true);
    expect(list.size).toBe(5021);
  });
});
