import type { Transform } from "node:stream";
import type { StreamedResponse, TransportHead } from "../../client/transport/transport.ts";
import { ProtocolError } from "../../client/transport/transport-errors.ts";
import { decodingStreams } from "./content-coding.ts";
import { Exchange, type Codings } from "./exchange.ts";
import { detailsOf } from "./transport-failure.ts";

/**
 * An exchange whose response is read piece by piece. At most {@link highWaterMark} bytes and what
 * the socket brings at once wait for a reader; then the connection is paused. Cancelling the body
 * ends the exchange.
 */
export class StreamedExchange extends Exchange<StreamedResponse> {
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #codings: Codings;
  #decoders: Transform[] = [];
  #decodedBytes = 0;
  #complete = false;

  protected head(head: TransportHead, codings: Codings): void {
    this.#codings = codings;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => this.#resume(),
        cancel: () => this.#cancel(),
      },
      { highWaterMark, size: (chunk) => chunk.byteLength },
    );
    this.resolve({ status: head.status, headers: head.headers, body });
  }

  protected data(chunk: Uint8Array): void {
    if (this.#codings === undefined) {
      if (this.received > this.maxResponseSize) return this.failTooLarge();
      this.#enqueue(chunk);
      if (this.#full) this.controller?.pause();
      return;
    }
    if (this.#decoders.length === 0) this.#decode(this.#codings, chunk[0]);
    if (this.#decoders[0]?.write(chunk) === false) this.controller?.pause();
  }

  protected end(): void {
    this.#complete = true;
    const [first] = this.#decoders;
    if (first === undefined) this.#close();
    else first.end();
  }

  protected drop(error: Error): void {
    for (const decoder of this.#decoders) decoder.destroy();
    if (this.#body === undefined) this.reject(error);
    else this.#body.error(error);
  }

  get #full(): boolean {
    return (this.#body?.desiredSize ?? 1) <= 0;
  }

  #enqueue(chunk: Uint8Array): void {
    this.#body?.enqueue(chunk);
  }

  #close(): void {
    if (this.ended) return;
    this.settle();
    this.#body?.close();
  }

  #resume(): void {
    const last = this.#decoders.at(-1);
    if (last !== undefined) last.resume();
    else if (!this.#complete && this.controller?.paused === true) this.controller.resume();
  }

  #cancel(): void {
    if (this.ended) return;
    const { controller } = this;
    this.settle();
    for (const decoder of this.#decoders) decoder.destroy();
    controller?.abort(cancelled);
  }

  #decode(codings: NonNullable<Codings>, firstByte: number | undefined): void {
    const decoders = decodingStreams(codings, firstByte);
    this.#decoders = decoders;
    for (const [index, decoder] of decoders.entries()) {
      decoder.on("error", (cause) => {
        const problem = `the body cannot be decoded (${codings.join(", ")})`;
        this.fail(new ProtocolError(problem, { ...detailsOf(this.request), cause }));
      });
      const next = decoders[index + 1];
      if (next !== undefined) decoder.pipe(next);
    }
    decoders[0]?.on("drain", () => {
      if (!this.#complete && this.controller?.paused === true) this.controller.resume();
    });
    const last = decoders.at(-1);
    last?.on("data", (chunk: Uint8Array) => {
      if (this.ended) return;
      this.#decodedBytes += chunk.byteLength;
      if (this.#decodedBytes > this.maxResponseSize) return this.failTooLarge();
      this.#enqueue(chunk);
      if (this.#full) last.pause();
    });
    last?.on("end", () => this.#close());
  }
}

/** Bytes that wait for a reader before the connection is paused. */
const highWaterMark = 65_536;
const cancelled = new Error("The reader cancelled the body");
