import {
  createServer as createHttp1,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createSecureServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { createServer as createHttps } from "node:https";
import { Socket } from "node:net";
import { HttpUsageError } from "../../errors.ts";
import type { NodeListener } from "./request-listener.ts";
import { CancellableMessage } from "../request/unread-body.ts";
import {
  rejectConnection,
  rejectParserErrors,
  rejectRequest,
  takeConnection,
} from "../request/reject-request.ts";
import { findRejection, HostCheck, readHead } from "../request/request-head.ts";
import type { CheckedServeOptions, UpgradeListener } from "./serve-options.ts";
import { limitStreamTime, watchStalledConnections } from "./timeouts.ts";

/** Node's server with its connections. */
export interface NodeServer {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  /** The decrypted sides of TLS connections. */
  readonly tlsSockets: ReadonlySet<Socket>;
  readonly sessions: ReadonlySet<Http2Session>;
}

/**
 * Creates Node's server by the options; it does not listen yet.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION` when the certificate or the key cannot be used
 */
export function createNodeServer(listener: NodeListener, options: CheckedServeOptions): NodeServer {
  const server = makeServer(listener, options);
  const sockets = new Set<Socket>();
  const tlsSockets = new Set<Socket>();
  const sessions = new Set<Http2Session>();
  server.on("connection", (socket: Socket) => {
    // Node remembers the address once it was read, so that it is known after the client has left.
    void socket.remoteAddress;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("secureConnection", (socket: Socket) => {
    tlsSockets.add(socket);
    socket.once("close", () => tlsSockets.delete(socket));
  });
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;
  const { responseTimeout } = options;
  if (responseTimeout > 0) {
    server.once("listening", () => {
      server.once("close", watchStalledConnections(sockets, responseTimeout));
    });
  }
  server.on("session", (session: Http2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A client that breaks the protocol loses its session; that is nothing to report.
    session.on("error", () => undefined);
    // `close` lets open streams end.
    if (options.keepAliveTimeout > 0) {
      session.setTimeout(options.keepAliveTimeout, () => session.close());
    }
  });
  server.on("stream", (stream: ServerHttp2Stream) => {
    limitStreamTime(stream, options);
  });
  rejectParserErrors(server);
  server.on("checkExpectation", (request, response) => {
    rejectRequest(request, response, { status: 417, detail: "only 100-continue can be expected" });
  });
  server.on("connect", (request: IncomingMessage, target: Socket | ServerResponse) => {
    const rejection = { status: 501, detail: "CONNECT is not supported" };
    // Over HTTP/2 it is a response, over HTTP/1 the bare connection.
    if (!(target instanceof Socket)) rejectRequest(request, target, rejection);
    else if (takeConnection(request, target)) rejectConnection(target, rejection);
  });
  const { onUpgrade } = options;
  if (onUpgrade !== undefined) server.on("upgrade", upgradeListener(onUpgrade, options));
  if (options.maxRequestBodySize !== undefined) {
    const { maxRequestBodySize } = options;
    server.on("checkContinue", (request, response) => {
      const isTooLarge = Number(request.headers["content-length"] ?? 0) > maxRequestBodySize;
      if (!isTooLarge) response.writeContinue();
      listener(request, response);
    });
  }
  return { server, sockets, tlsSockets, sessions };
}

/** Rejects what handlers must not see. A connection error is reported and ends it. */
function upgradeListener(
  onUpgrade: UpgradeListener,
  options: CheckedServeOptions,
): (...exchange: Parameters<UpgradeListener>) => void {
  const hosts = new HostCheck();
  return (request, socket, head) => {
    if (!takeConnection(request, socket)) return;
    const rejection = findRejection(request, readHead(request, hosts), options);
    if (rejection !== undefined) {
      rejectConnection(socket, rejection);
      return;
    }
    try {
      onUpgrade(request, socket, head)?.catch(fail);
    } catch (error) {
      fail(error);
    }
    function fail(error: unknown): void {
      socket.destroy();
      options.reportError(error);
    }
  };
}

function makeServer(listener: NodeListener, options: CheckedServeOptions): Server {
  const { tls, requestTimeout, headersTimeout, keepAliveTimeout, maxHeaderSize } = options;
  const limits = {
    requestTimeout,
    headersTimeout,
    keepAliveTimeout,
    maxHeaderSize,
    // How often Node looks for late requests.
    connectionsCheckingInterval: checkInterval(options),
    IncomingMessage: CancellableMessage,
    // Our own rejection has a body.
    requireHostHeader: false,
    noDelay: true,
  };
  if (tls === undefined) return createHttp1(limits, listener);
  try {
    const secrets = {
      cert: Buffer.from(tls.cert),
      key: Buffer.from(tls.key),
      ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
      ...(tls.ca === undefined
        ? {}
        : { ca: Buffer.from(tls.ca), requestCert: true, rejectUnauthorized: true }),
    };
    if (!options.http2) return createHttps({ ...limits, ...secrets }, listener);
    // The compatibility classes of HTTP/2 have what our listener uses, and HTTP/1.1 clients get the
    // real ones.
    return createSecureServer(
      {
        ...secrets,
        allowHTTP1: true,
        Http1IncomingMessage: CancellableMessage,
        http1Options: { keepAliveTimeout },
        settings: { maxHeaderListSize: maxHeaderSize, maxConcurrentStreams: 128 },
        maxHeaderListPairs: 200,
        ...limits,
      } as object,
      listener as never,
    ) as unknown as Server;
  } catch (cause) {
    throw new HttpUsageError(
      "ERR_HTTP_OPTION",
      "tls: the certificate and the key are invalid or do not belong together",
      { cause },
    );
  }
}

function checkInterval({ requestTimeout, headersTimeout }: CheckedServeOptions): number {
  const shortest = Math.min(requestTimeout || Infinity, headersTimeout || Infinity);
  return Math.max(100, Math.min(5000, shortest / 4));
}
