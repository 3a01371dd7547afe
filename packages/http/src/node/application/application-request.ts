import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { OpenBody } from "./application-body.ts";
import type { ListenerSocket } from "./application-socket.ts";

/** What a request of Node has that a web one has not. */
export interface ListenerParts {
  readonly socket: ListenerSocket;
  /** Default: the request has no body. */
  readonly openBody: OpenBody | undefined;
  /** Called when the body has failed and the application does not listen for errors of its request. */
  readonly onLost: (error: Error) => void;
}

/**
 * Makes Node's request of a web one; its body is read from the web one as the application asks for it.
 *
 * Everything special is a property of the object, not of a class: Express replaces the prototype.
 */
export function makeListenerRequest(request: Request, parts: ListenerParts): IncomingMessage {
  const { socket, openBody } = parts;
  // `IncomingMessage` asks of its socket what a `Duplex` has.
  const message = new IncomingMessage(socket as unknown as Socket);
  const url = new URL(request.url);
  message.method = request.method;
  message.url = url.pathname + url.search;
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  setHeaders(message, headerLines(request, url.host, openBody));
  readBodyOnDemand(message, parts);
  return message;
}

function setHeaders(message: IncomingMessage, lines: readonly (readonly [string, string])[]): void {
  message.rawHeaders = lines.flat();
  message.headers = Object.fromEntries(lines);
  message.headersDistinct = Object.fromEntries(lines.map(([name, value]) => [name, [value]]));
}

function headerLines(
  request: Request,
  host: string,
  openBody: OpenBody | undefined,
): [string, string][] {
  const lines: [string, string][] = [];
  let hasHost = false;
  let hasFraming = false;
  for (const [name, value] of request.headers) {
    hasHost ||= name === "host";
    if (name === "content-length" || name === "transfer-encoding") {
      // Body parsers wait for what these announce.
      if (openBody === undefined && value !== "0") continue;
      hasFraming = true;
    }
    lines.push([name, value]);
  }
  if (!hasHost) lines.push(["host", host]);
  // Body parsers look for one of the two before they read.
  if (!hasFraming && openBody !== undefined && request.body !== null) {
    lines.push(["transfer-encoding", "chunked"]);
  }
  return lines;
}

function readBodyOnDemand(message: IncomingMessage, { openBody, onLost }: ListenerParts): void {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const read = async (): Promise<void> => {
    reader ??= openBody?.()?.getReader();
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) {
      message.complete = true;
      message.push(null);
    } else {
      message.push(value);
    }
  };
  const nodeRead = message._read.bind(message);
  message._read = (size) => {
    // Takes the message out of the state in which Node's parser has not begun.
    nodeRead(size);
    read().catch((error: unknown) => message.destroy(toError(error)));
  };
  message._destroy = (error, callback) => {
    if (!message.complete) {
      reader?.cancel(error).catch(() => undefined);
      // Body parsers wait for the end of a request that failed, unless its connection has nothing to read any more.
      message.socket.readable = false;
      if (error === null || isReset(error)) {
        // Old applications still ask for it.
        // oxlint-disable-next-line typescript/no-deprecated
        message.aborted = true;
        message.emit("aborted");
      }
    }
    const isHeard = message.listenerCount("error") > 0;
    if (error !== null && !isHeard) onLost(error);
    // Without a listener an "error" would end the process.
    callback(isHeard ? error : null);
  };
}

function isReset(error: Error): boolean {
  return "code" in error && error.code === "ECONNRESET";
}

function toError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error("the body of the request failed", { cause: error });
}
