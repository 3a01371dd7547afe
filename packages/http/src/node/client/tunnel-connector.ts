import { request as requestHttp, type ClientRequest } from "node:http";
import { request as requestHttps } from "node:https";
import { Socket } from "node:net";
import type { buildConnector } from "undici";
import { attemptAbandoned, type ConnectionSites } from "./connection-site.ts";
import {
  finishAttempt,
  rawConnector,
  withServername,
  type ConnectorOptions,
} from "./direct-connector.ts";
import { toConnectionOptions, type ClientTlsOptions } from "./tls-options.ts";

/** A proxy, ready for use. */
export interface Proxy {
  /** Without credentials. */
  readonly url: URL;
  /** Value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
  /** TLS of the connection to an `https:` proxy. */
  readonly tls: ClientTlsOptions;
}

/** A proxy that refused, or that could not be reached; the text has no secret. */
export class ProxyFailure extends Error {
  override readonly name: string = "ProxyFailure";
  readonly code: string | undefined;

  constructor(problem: string, options?: { readonly code?: string | undefined; cause?: unknown }) {
    super(problem, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = options?.code;
  }
}

/** Makes undici's connector through a proxy: `CONNECT` first, then TLS with the target. */
export function tunnelConnector(
  sites: ConnectionSites,
  proxy: Proxy,
  options: ConnectorOptions,
): buildConnector.connector {
  const connect = rawConnector(options);
  return (target, callback) => {
    let ended = false;
    let current: { destroy(error: Error): unknown } | undefined;
    const end = sites.of(`${target.protocol}//${target.host}`).begin(() => {
      current?.destroy(attemptAbandoned);
    });
    const finish: buildConnector.Callback = (...result) => {
      if (ended) return;
      ended = true;
      finishAttempt(sites, end, callback, result);
    };
    current = openTunnel(proxy, `${target.hostname}:${target.port || "443"}`, (error, tunnel) => {
      if (tunnel === undefined) return finish(error ?? new ProxyFailure("no tunnel"), null);
      const secured: unknown = connect(
        { ...withServername(target, options.tls), httpSocket: tunnel },
        finish,
      );
      if (secured instanceof Socket) current = secured;
    });
  };
}

function openTunnel(
  proxy: Proxy,
  target: string,
  done: (error: Error | undefined, tunnel?: Socket) => void,
): ClientRequest {
  const { url, authorization, tls } = proxy;
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
    method: "CONNECT",
    path: bracketed(target),
    headers: {
      host: bracketed(target),
      ...(authorization === undefined ? {} : { "proxy-authorization": authorization }),
    },
    agent: false,
  } as const;
  const request =
    url.protocol === "https:"
      ? requestHttps({ ...toConnectionOptions(tls), ...options })
      : requestHttp(options);
  request.once("connect", (response, socket, head) => {
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299 || !(socket instanceof Socket)) {
      socket.on("error", () => undefined).destroy();
      return done(new ProxyFailure(refusal(statusCode), { code: `HTTP_${statusCode}` }));
    }
    if (head.length > 0) socket.unshift(head);
    done(undefined, socket);
  });
  request.on("error", (error: NodeJS.ErrnoException) => {
    if (error === attemptAbandoned) return done(error);
    const problem = "the proxy cannot be reached";
    done(new ProxyFailure(problem, { code: error.code, cause: error }));
  });
  request.end();
  return request;
}

/** Describes what a status of a proxy means for a tunnel. */
export function refusal(statusCode: number): string {
  return statusCode === 407
    ? "the proxy wants other credentials (407)"
    : `the proxy refuses the connection (${statusCode})`;
}

/** `::1:443` is `[::1]:443`. */
function bracketed(target: string): string {
  const end = target.lastIndexOf(":");
  const host = target.slice(0, end);
  return host.includes(":") && !host.startsWith("[") ? `[${host}]${target.slice(end)}` : target;
}
