import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Transport, TransportRequest } from "@fetchwork/http";
import { WebhookUsageError } from "../../errors.ts";
import { lazyTransport } from "./lazy-transport.ts";
import { isPublicAddress } from "./public-address.ts";

/**
 * Makes a transport that connects to public addresses only. What is checked is the address that the connection is made
 * to, so a name that changes its address between a check and a connection gains nothing; no proxy is used, because the
 * proxy would choose the address.
 */
export function publicTransport(): Transport {
  const transport = lazyTransport(async () => {
    const { undiciTransport } = await import("@fetchwork/http/undici");
    return undiciTransport({ lookup: publicLookup, proxy: false });
  });
  return {
    // An address that stands in the URL is never looked up.
    exchange: async (request) => transport.exchange(checkLiteral(request)),
    stream: async (request) => transport.stream(checkLiteral(request)),
    close: () => transport.close(),
  };
}

function checkLiteral(request: TransportRequest): TransportRequest {
  const host = request.url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw refused();
  return request;
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) {
      callback(error ?? new Error("no address"), "", 0);
    } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
      // One special address is enough: which of them would be used is chance.
      callback(refused(), "", 0);
    } else if (options.all === true) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

function refused(): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_TARGET", "The target's address is not public");
}
