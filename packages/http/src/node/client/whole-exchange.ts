import { ByteCollector } from "@fetchwork/kit";
import type { TransportHead, WholeResponse } from "../../client/transport/transport.ts";
import { ProtocolError } from "../../client/transport/transport-errors.ts";
import { DecodedTooLarge, decodeWhole } from "./content-coding.ts";
import { Exchange, type Codings } from "./exchange.ts";
import { detailsOf } from "./transport-failure.ts";

/** An exchange whose response is read whole, without a stream in between. */
export class WholeExchange extends Exchange<WholeResponse> {
  #head: TransportHead | undefined;
  #codings: Codings;
  #first: Uint8Array | undefined;
  #more: ByteCollector | undefined;

  protected head(head: TransportHead, codings: Codings): void {
    this.#head = head;
    this.#codings = codings;
  }

  protected data(chunk: Uint8Array): void {
    // A coded body may be a little longer than its content, but not without end.
    const slack = this.#codings === undefined ? 0 : codedSlack;
    if (this.received > this.maxResponseSize + slack) return this.failTooLarge();
    if (this.#more !== undefined) return this.#more.add(chunk);
    if (this.#first === undefined) {
      this.#first = chunk;
      return;
    }
    this.#more = new ByteCollector();
    this.#more.add(this.#first);
    this.#more.add(chunk);
  }

  protected end(): void {
    const head = this.#head;
    if (head === undefined) return this.fail(new Error("undici ended without a head"));
    const body = this.#more?.join() ?? this.#first ?? empty;
    if (this.#codings === undefined) return this.#finish(head, body);
    void this.#decode(head, body, this.#codings);
  }

  protected drop(error: Error): void {
    this.#first = undefined;
    this.#more = undefined;
    this.reject(error);
  }

  #finish(head: TransportHead, body: Uint8Array): void {
    if (this.ended) return;
    this.settle();
    this.resolve({ status: head.status, headers: head.headers, body });
  }

  /** Never rejects. */
  async #decode(
    head: TransportHead,
    body: Uint8Array,
    codings: NonNullable<Codings>,
  ): Promise<void> {
    try {
      const decoded = decodeWhole(body, codings, this.maxResponseSize);
      this.#finish(head, decoded instanceof Promise ? await decoded : decoded);
    } catch (cause) {
      if (cause instanceof DecodedTooLarge) return this.failTooLarge();
      const problem = `the body cannot be decoded (${codings.join(", ")})`;
      this.fail(new ProtocolError(problem, { ...detailsOf(this.request), cause }));
    }
  }
}

const codedSlack = 65_536;
const empty = new Uint8Array(0);
