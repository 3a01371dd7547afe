import { fetchTransport } from "./fetch-transport.ts";
import type { Transport } from "./transport.ts";

/** The transport of a client that was given none: here `fetch`, on Node undici. */
export function defaultTransport(): Transport {
  return fetchTransport();
}
