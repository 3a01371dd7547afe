import {
  createServer as createHttp1,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import {
  constants,
  createSecureServer,
  type Http2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createHttps } from "node:https";
import { Socket } from "node:net";
import { HttpUsageError } from "../../errors.ts";
import { answerClientErrors } from "./parser-errors.ts";
import type { NodeListener } from "./request-listener.ts";
import { KeptMessage } from "../request/unread-body.ts";
import { isBehindRefusal, rawRefusal, refuse } from "../request/reject-request.ts";
import type { CheckedServeOptions, UpgradeListener } from "./serve-options.ts";
import { watchStalledConnections } from "./stalled-connections.ts";

/** A server of Node with its connections. */
export interface NodeServer {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly sessions: ReadonlySet<Http2Session>;
}

/**
 * Makes the server of Node that the options ask for; does not listen yet.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION` when certificate or key cannot be used
 */
export function createNodeServer(listener: NodeListener, options: CheckedServeOptions): NodeServer {
  const server = makeServer(listener, options);
  const sockets = new Set<Socket>();
  const sessions = new Set<Http2Session>();
  server.on("connection", (socket: Socket) => {
    // Remembered by Node from the first look on, so that it is known after the client has gone.
    void socket.remoteAddress;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
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
    // A peer that breaks the protocol loses its session; nobody else needs to know.
    session.on("error", () => undefined);
    // Graceful: streams that are open go on.
    if (options.keepAliveTimeout > 0)
      session.setTimeout(options.keepAliveTimeout, () => session.close());
  });
  server.on("stream", (stream: ServerHttp2Stream) => {
    boundRequestTime(stream, options);
    boundResponseTime(stream, options);
  });
  answerClientErrors(server);
  server.on("checkExpectation", (request, response) => {
    if (isBehindRefusal(request)) return;
    refuse(request, response, { status: 417, detail: "only 100-continue can be expected" });
  });
  server.on("connect", (request: IncomingMessage, target: Socket | ServerResponse) => {
    const refusal = { status: 501, detail: "CONNECT is not supported" };
    // HTTP/2 gives a response, HTTP/1 the bare connection, whose errors are nobody's then.
    if (target instanceof Socket) {
      target.on("error", () => undefined);
      target.end(rawRefusal(refusal), () => target.destroy());
    } else {
      refuse(request, target, refusal);
    }
  });
  const { onUpgrade } = options;
  if (onUpgrade !== undefined) server.on("upgrade", upgradeListener(onUpgrade, options));
  if (options.maxRequestBodySize !== undefined) {
    const { maxRequestBodySize } = options;
    server.on("checkContinue", (request, response) => {
      if (isBehindRefusal(request)) return;
      const isTooLarge = Number(request.headers["content-length"] ?? 0) > maxRequestBodySize;
      if (!isTooLarge) response.writeContinue();
      listener(request, response);
    });
  }
  return { server, sockets, sessions };
}

/** What goes wrong with one connection is reported and ends that connection. */
function upgradeListener(
  onUpgrade: UpgradeListener,
  { reportError }: CheckedServeOptions,
): (...exchange: Parameters<UpgradeListener>) => void {
  return (request, socket, head) => {
    // A client that leaves is no failure, and without a listener it would end the process.
    socket.on("error", () => undefined);
    if (isBehindRefusal(request)) return;
    try {
      onUpgrade(request, socket, head)?.catch(fail);
    } catch (error) {
      fail(error);
    }
    function fail(error: unknown): void {
      socket.destroy();
      reportError(error);
    }
  };
}

/** Node's request timeout knows nothing of HTTP/2. */
function boundRequestTime(
  stream: ServerHttp2Stream,
  { requestTimeout }: CheckedServeOptions,
): void {
  if (requestTimeout === 0 || stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestTimeout);
  timer.unref();
  const stop = (): void => clearTimeout(timer);
  stream.once("end", stop);
  stream.once("close", stop);
}

/** A stream's client may hold its answer back while the connection goes on. */
function boundResponseTime(
  stream: ServerHttp2Stream,
  { responseTimeout }: CheckedServeOptions,
): void {
  if (responseTimeout === 0) return;
  stream.setTimeout(responseTimeout, () => {
    if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else if (!stream.destroyed) stream.setTimeout(responseTimeout);
  });
}

function makeServer(listener: NodeListener, options: CheckedServeOptions): Server {
  const { tls, requestTimeout, headersTimeout, keepAliveTimeout, maxHeaderSize } = options;
  const limits = {
    requestTimeout,
    headersTimeout,
    keepAliveTimeout,
    maxHeaderSize,
    // Node looks for late requests this often.
    connectionsCheckingInterval: checkInterval(options),
    IncomingMessage: KeptMessage,
    // Refused by ourselves, with a body.
    requireHostHeader: false,
    noDelay: true,
  };
  if (tls === undefined) return createHttp1(limits, listener);
  const secrets = {
    cert: toPem(tls.cert),
    key: toPem(tls.key),
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.ca === undefined
      ? {}
      : { ca: toPem(tls.ca), requestCert: true, rejectUnauthorized: true }),
  };
  try {
    if (!options.http2) return createHttps({ ...limits, ...secrets }, listener);
    // HTTP/2's compatibility classes have what listeners use of HTTP/1's, and HTTP/1.1 clients get the real ones.
    return createSecureServer(
      {
        ...secrets,
        allowHTTP1: true,
        Http1IncomingMessage: KeptMessage,
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
      "tls: certificate and key cannot be used together or at all",
      { cause },
    );
  }
}

function toPem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}

function checkInterval({ requestTimeout, headersTimeout }: CheckedServeOptions): number {
  const shortest = Math.min(requestTimeout || Infinity, headersTimeout || Infinity);
  return Math.max(100, Math.min(5000, shortest / 4));
}
