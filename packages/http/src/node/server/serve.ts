import { type AddressInfo, isIP } from "node:net";
import { checkOptions } from "../../check-options.ts";
import { ListenError } from "../../errors.ts";
import { checkFunction } from "../../exchange/check-function.ts";
import type { Handler } from "../../handler.ts";
import { FastResponse } from "../../message/fast-response.ts";
import { createNodeServer, type NodeServer } from "./create-server.ts";
import { requestListener } from "./request-listener.ts";
import type { NodeRuntime } from "../exchange/node-exchange.ts";
import { PendingPromises } from "../exchange/pending-promises.ts";
import { checkServeOptions, type CheckedServeOptions, type ServeOptions } from "./serve-options.ts";
import { stopOnSignals } from "./stop-on-signals.ts";
import { stopServer } from "./stop-server.ts";

/** A server that is listening. */
export interface RunningServer extends AsyncDisposable {
  /** URL of the server, with a final slash; host `localhost` for all addresses. */
  readonly url: string;
  /** Port that it listens on; the system's choice when the option was 0. */
  readonly port: number;
  /** Address that it listens on. */
  readonly hostname: string;
  /**
   * Stops the server: accepts no more connections, closes idle ones, lets requests in flight end
   * and waits for `waitUntil` promises; closes the remaining connections after the grace period.
   * Resolves with {@link RunningServer.finished}.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Resolves when the server has stopped for any reason. Never rejects. */
  readonly finished: Promise<void>;
}

/** How a server stops. */
export interface CloseOptions {
  /** In milliseconds; 0 closes all at once. Default: {@link ServeOptions.gracePeriod}. */
  readonly gracePeriod?: number | undefined;
}

/**
 * Serves a handler over HTTP, on Node, Bun and Deno.
 *
 * Resolves when the server listens. A client can break its own exchange only. An error that asks to
 * be a response becomes one, as in `exposedResponse`. All other errors of a handler are reported,
 * and the response is a 500 without the reason.
 *
 * @example
 * ```ts
 * const server = await serve(() => json({ hello: "world" }), { port: 9000 });
 * console.log(`listening on ${server.url}`);
 * await server.finished;
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` or `ERR_HTTP_OPTION`, at once
 * @throws ListenError `ERR_HTTP_LISTEN` as a rejection, when the port is taken or not allowed
 */
export function serve(handler: Handler, options: ServeOptions = {}): Promise<RunningServer> {
  checkFunction(handler, "handler");
  const checked = checkServeOptions(options);
  if (options.fastResponse === true) globalThis.Response = FastResponse;
  const runtime: NodeRuntime = {
    maxRequestBodySize: checked.maxRequestBodySize,
    maxBodySize: checked.maxBodySize,
    bodyBudget: checked.bodyBudget,
    maxHeaderSize: checked.maxHeaderSize,
    isBehindOthers: false,
    reportError: checked.reportError,
    pending: new PendingPromises(checked.reportError),
    isClosing: false,
  };
  const node = createNodeServer(requestListener(handler, runtime), checked);
  return listen(node, checked).then((address) => run(node, runtime, checked, address));
}

function listen({ server }: NodeServer, options: CheckedServeOptions): Promise<AddressInfo> {
  const { port, hostname } = options;
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      reject(listenError(cause, port, hostname));
    };
    server.once("error", onError);
    server.listen(hostname === undefined ? { port } : { port, host: hostname }, () => {
      server.off("error", onError);
      const address = server.address();
      if (address === null || typeof address === "string") {
        reject(new Error("the server has no TCP address"));
      } else {
        resolve(address);
      }
    });
  });
}

function listenError(
  cause: NodeJS.ErrnoException,
  port: number,
  hostname: string | undefined,
): ListenError {
  const systemCode = cause.code ?? "UNKNOWN";
  const where = `port ${port}${hostname === undefined ? "" : ` of ${hostname}`}`;
  const why = reasons[systemCode] ?? "cannot be listened on";
  return new ListenError(`${where} ${why} (${systemCode})`, { systemCode, port, hostname, cause });
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "needs more rights than this process has",
  EADDRINUSE: "is in use by another process",
  EADDRNOTAVAIL: "is not on an address of this machine",
  ENOTFOUND: "is on a name that has no address",
};

function run(
  node: NodeServer,
  runtime: NodeRuntime,
  checked: CheckedServeOptions,
  address: AddressInfo,
): RunningServer {
  const { signal } = checked;
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  let cut: ((gracePeriod: number) => void) | undefined;
  const close = (options: CloseOptions = {}): Promise<void> => {
    checkOptions<CloseOptions>("close", options, ["gracePeriod"]);
    const gracePeriod = options.gracePeriod ?? checked.gracePeriod;
    if (cut === undefined) {
      const stopping = stopServer(node, runtime, gracePeriod);
      cut = stopping.cutAfter;
      void stopping.stopped.then(() => {
        forgetSignals?.();
        signal?.removeEventListener("abort", onAbort);
        finish();
      });
    } else if (options.gracePeriod !== undefined) {
      cut(gracePeriod);
    }
    return finished;
  };
  const onAbort = (): void => void close();
  const forgetSignals = checked.signals ? stopOnSignals(onAbort) : undefined;
  // An error of a listening server, such as too many open files, must not end the process.
  node.server.on("error", (error) => checked.reportError(error));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    url: urlOf(address, checked),
    port: address.port,
    hostname: address.address,
    close,
    finished,
    [Symbol.asyncDispose]: () => close(),
  };
}

function urlOf(
  { address, port, family }: AddressInfo,
  { hostname = address, tls }: CheckedServeOptions,
): string {
  const isAny = address === "::" || address === "0.0.0.0";
  // Certificates are of names.
  const name = isAny ? "localhost" : isIP(hostname) === 0 ? hostname : address;
  const host = name === address && family === "IPv6" ? `[${address}]` : name;
  return `${tls === undefined ? "http" : "https"}://${host}:${port}/`;
}
