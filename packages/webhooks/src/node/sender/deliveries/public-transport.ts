import { lookup } from "node:dns";
import type { Transport, TransportRequest } from "@fetchwork/http";
import { lazyTransport } from "./lazy-transport.ts";
import { notPublic, publicLookup } from "./public-lookup.ts";
import { hasPrivateAddress } from "../endpoints/target-url.ts";

/**
 * Makes a transport that connects to public addresses only. The address that the connection is made
 * to is checked. So a name that changes its address between a check and a connection gains nothing;
 * no proxy is used, because the proxy would choose the address.
 */
export function publicTransport(): Transport {
  const transport = lazyTransport({ lookup: publicLookup(lookup), proxy: false });
  return {
    // An address in the URL is never looked up.
    exchange: async (request) => transport.exchange(checkLiteral(request)),
    stream: async (request) => transport.stream(checkLiteral(request)),
    close: () => transport.close(),
  };
}

function checkLiteral(request: TransportRequest): TransportRequest {
  if (hasPrivateAddress(request.url)) throw notPublic();
  return request;
}
