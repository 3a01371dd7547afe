import type { Transport } from "../../client/transport/transport.ts";
import { undiciTransport } from "./undici-transport.ts";

/** The transport of a client that was given none: on Node undici, elsewhere `fetch`. */
export function defaultTransport(): Transport {
  return undiciTransport();
}
