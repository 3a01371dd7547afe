import { describe, expect, it } from "vitest";
import { BodyTooLargeError } from "../../src/bodies/body-errors.ts";
import { readBody } from "../../src/bodies/read-body.ts";

function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

describe("readBody", () => {
  it("rejects a body that is larger than the limit, and cancels the rest of it", async () => {
    let reason: unknown;
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls += 1;
        controller.enqueue(new Uint8Array(10));
      },
      cancel: (cancelled) => void (reason = cancelled),
    });
    const error: unknown = await readBody(endless, { limit: 25 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BodyTooLargeError);
    expect(error).toMatchObject({
      code: "ERR_KIT_BODY_TOO_LARGE",
      status: 413,
      expose: true,
      limit: 25,
    });
    expect(reason).toBe(error);
    expect(pulls).toBeLessThan(6);
  });

  it("rejects with the reason of the signal, also while no bytes arrive", async () => {
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const reading = readBody(silent, { limit: 10, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await expect(readBody(streamOf("a"), { limit: 10, signal: controller.signal })).rejects.toThrow(
      "enough",
    );
  });

  it("rejects with the error of the body", async () => {
    const broken = new ReadableStream<Uint8Array>({ start: (c) => c.error(new Error("reset")) });
    await expect(readBody(broken, { limit: 10 })).rejects.toThrow("reset");
  });

  it("rejects a body that something else reads", async () => {
    const stream = streamOf("a");
    stream.getReader();
    await expect(readBody(stream, { limit: 10 })).rejects.toThrow(TypeError);
  });

  it("returns the bytes of a body of exactly the limit, of an empty body and of null", async () => {
    const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    expect(decode(await readBody(streamOf("ab", "", "cd"), { limit: 4 }))).toBe("abcd");
    expect(decode(await readBody(streamOf(), { limit: 0 }))).toBe("");
    expect(decode(await readBody(null, { limit: 0 }))).toBe("");
  });

  it("keeps 400,000 chunks of one byte in less than two mebibytes", async () => {
    let left = 400_000;
    const drip = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(Uint8Array.of(97));
      },
    });
    const bytes = await readBody(drip, { limit: 1_000_000 });
    expect(bytes.byteLength).toBe(400_000);
    expect(bytes.buffer.byteLength).toBeLessThan(2 * 1_048_576);
  });
});
