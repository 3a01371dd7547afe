import { isIP, Socket, type LookupFunction } from "node:net";
// Imported by file: for the bare package name, Bun substitutes its own module, which has no
// connections.
import { buildConnector } from "undici/index.js";
import { attemptAbandoned, type ConnectionSites } from "./connection-site.ts";
import { toConnectionOptions, type ClientTlsOptions } from "./tls-options.ts";

/** How sockets are made. */
export interface ConnectorOptions {
  readonly tls: ClientTlsOptions;
  readonly http2: boolean;
  readonly lookup?: LookupFunction | undefined;
}

/** Makes the function by which undici opens connections; `sites` limits the time. */
export function directConnector(
  sites: ConnectionSites,
  options: ConnectorOptions,
): buildConnector.connector {
  const connect = rawConnector(options);
  return (target, callback) => {
    const end = sites.of(`${target.protocol}//${target.host}`).begin(() => {
      if (socket instanceof Socket) socket.destroy(attemptAbandoned);
    });
    const socket: unknown = connect(withServername(target, options.tls), (...result) => {
      finishAttempt(sites, end, callback, result);
    });
  };
}

/** Makes undici's own connector without its timeout. */
export function rawConnector(options: ConnectorOptions): buildConnector.connector {
  const { tls, http2, lookup } = options;
  return buildConnector({
    ...toConnectionOptions(tls),
    allowH2: http2,
    timeout: 0,
    ...(lookup === undefined ? {} : { lookup }),
  });
}

/** Names the server by its URL or the options, never by a `Host` header of a caller. */
export function withServername(
  target: buildConnector.Options,
  tls: ClientTlsOptions,
): buildConnector.Options {
  return {
    ...target,
    servername: tls.servername ?? (isIP(target.hostname) === 0 ? target.hostname : ""),
  };
}

/** Tells the site how an attempt ended, and undici. */
export function finishAttempt(
  sites: ConnectionSites,
  end: (outcome: "succeeded" | "failed") => void,
  callback: buildConnector.Callback,
  result: Parameters<buildConnector.Callback>,
): void {
  end(result[0] === null ? "succeeded" : "failed");
  sites.handingOver = result[0] === null;
  try {
    callback(...result);
  } finally {
    sites.handingOver = false;
  }
}
