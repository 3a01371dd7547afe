import type { TransportRequest } from "../../src/client/transport/transport.ts";

/** A GET of a URL, with whatever is given besides. */
export function requestOf(url: string, given: Partial<TransportRequest> = {}): TransportRequest {
  return {
    method: "GET",
    url: new URL(url),
    headers: [],
    body: undefined,
    timeouts: { connect: 5_000, headers: 5_000, body: 5_000 },
    maxResponseSize: 1_000_000,
    signal: undefined,
    ...given,
  };
}

/** The reason of a rejection; fails when there is none. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${typeof error}`, { cause: error });
  }
  throw new Error("resolved");
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The values of a header in a list. */
export function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name,
  );
}
