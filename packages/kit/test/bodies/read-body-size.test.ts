import { expect, it } from "vitest";
import { readBody } from "../../src/index.ts";

it("readBody() reports the size each time bytes arrive, and stops when the callback throws", async () => {
  const sizes: number[] = [];
  let cancelled: unknown;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10)),
    cancel: (reason) => void (cancelled = reason),
  });
  const failure = new Error("together too large");
  const onSize = (size: number): void => {
    sizes.push(size);
    if (size === 30) throw failure;
  };
  await expect(readBody(body, { limit: 100, onSize })).rejects.toBe(failure);
  expect(sizes).toEqual([10, 20, 30]);
  expect(cancelled).toBe(failure);
});
