import { pairsOf } from "../../message/header-list.ts";
import { ResponseHead } from "./rest-response.ts";
import type { StreamedResponse } from "../transport/transport.ts";

/** A response whose body is arriving. Read it all or {@link cancel} it: it keeps a connection. */
export class StreamResponse extends ResponseHead {
  /** Pieces of the body, after content coding, as fast as they are read. */
  readonly body: ReadableStream<Uint8Array>;

  constructor(response: StreamedResponse) {
    super(response);
    this.body = response.body;
  }

  /** Ends the exchange; what has not arrived is dropped. */
  async cancel(): Promise<void> {
    await this.body.cancel();
  }

  /**
   * The platform's response with the same body; read it from one of the two.
   *
   * @throws RangeError for a status that a `Response` cannot have: below 200 or above 599
   */
  toResponse(): Response {
    const { statusCode, headerList } = this;
    const headers = new Headers();
    for (const [name, value] of pairsOf(headerList)) headers.append(name, value);
    const isEmpty = statusCode === 204 || statusCode === 205 || statusCode === 304;
    if (isEmpty) void this.body.cancel().catch(() => undefined);
    return new Response(isEmpty ? null : asBodyInit(this.body), { status: statusCode, headers });
  }
}

// The stream of a transport may be over any buffer; the type of `BodyInit` requires a specific one.
function asBodyInit(body: ReadableStream<Uint8Array>): BodyInit {
  return body as ReadableStream<Uint8Array<ArrayBuffer>>;
}
