import { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { FrameworkExchange } from "./framework-exchange.ts";
import { isBodyOpened } from "./message-request.ts";

/** Writes what a middleware changed of a request into Node's own, where the framework finds it. */
export function passRequest(exchange: FrameworkExchange, request: Request): void {
  const { message, request: before, received } = exchange;
  exchange.request = request;
  const isBodyRead = isBodyOpened(received) && !received.bodyUsed && before === received;
  if (request === before) {
    if (isBodyRead) feedBody(message, request);
    return;
  }
  const isBodyReplaced = isBodyRead || !isSameFraming(before, request);
  if (request.method !== message.method) message.method = request.method;
  if (request.url !== before.url) setTarget(message, request.url);
  passHeaders(message, request.headers);
  if (isBodyReplaced || (isBodyOpened(received) && received.bodyUsed && !request.bodyUsed)) {
    feedBody(message, request);
  }
}

function isSameFraming({ headers: before }: Request, { headers: after }: Request): boolean {
  return (
    before.get("content-length") === after.get("content-length") &&
    before.get("transfer-encoding") === after.get("transfer-encoding")
  );
}

/** Under a mount path of Express, `url` has only the rest, from its slash; what leaves the mount path stays whole. */
function setTarget(message: IncomingMessage & { readonly baseUrl?: string }, url: string): void {
  const { pathname, search } = new URL(url);
  const { baseUrl = "" } = message;
  const isInside = pathname === baseUrl || pathname.startsWith(`${baseUrl}/`);
  message.url = (isInside ? pathname.slice(baseUrl.length) || "/" : pathname) + search;
}

function passHeaders(message: IncomingMessage, headers: Headers): void {
  const names = new Set<string>();
  for (const [name, value] of headers) {
    names.add(name);
    const present = message.headers[name];
    const isSame = Array.isArray(present) ? present.join(", ") === value : present === value;
    if (!isSame) message.headers[name] = value;
  }
  for (const name of Object.keys(message.headers)) {
    if (names.has(name) || name.startsWith(":") || name === "transfer-encoding") continue;
    Reflect.deleteProperty(message.headers, name);
  }
}

const eventMethods = [
  "addListener",
  "off",
  "on",
  "once",
  "prependListener",
  "removeListener",
] as const;
const readMethods = [
  "isPaused",
  "pause",
  "pipe",
  "read",
  "resume",
  "setEncoding",
  "unpipe",
  Symbol.asyncIterator,
] as const;
const bodyEvents: ReadonlySet<unknown> = new Set(["data", "end", "error", "readable"]);
/** State of an unread stream. */
const freshState = {
  readable: true,
  readableDidRead: false,
  readableEncoding: null,
  readableEnded: false,
  readableFlowing: null,
  readableLength: 0,
};

/**
 * Lets Node's request read from the body of another one, because its own was read. The body is opened when the framework
 * reads it, because another middleware may read it before. Body parsers see no difference.
 */
function feedBody(message: IncomingMessage, request: Request): void {
  let source: Readable | undefined;
  const open = (): Readable => (source ??= toReadable(request.body));
  const define = (name: string | symbol, property: PropertyDescriptor): void => {
    Object.defineProperty(message, name, { configurable: true, ...property });
  };
  // Body parsers look for one of the two before they read.
  if (request.headers.has("content-length")) {
    Reflect.deleteProperty(message.headers, "transfer-encoding");
  } else {
    message.headers["transfer-encoding"] = "chunked";
  }
  const prototype: object = IncomingMessage.prototype;
  for (const name of eventMethods) {
    const own: unknown = Reflect.get(prototype, name);
    define(name, {
      value(event: unknown, ...rest: unknown[]): unknown {
        const target = bodyEvents.has(event) ? open() : message;
        const method: unknown = target === message ? own : Reflect.get(target, name);
        if (typeof method === "function") Reflect.apply(method, target, [event, ...rest]);
        return message;
      },
    });
  }
  for (const name of readMethods) {
    define(name, {
      value(...given: unknown[]): unknown {
        const method: unknown = open()[name];
        return typeof method === "function" ? Reflect.apply(method, open(), given) : undefined;
      },
    });
  }
  for (const [name, fresh] of Object.entries(freshState)) {
    const get = (): unknown => (source === undefined ? fresh : Reflect.get(source, name));
    define(name, { get });
  }
  define("_readableState", { get: () => Reflect.get(open(), "_readableState") as unknown });
}

function toReadable(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Readable {
  // The platform's type of streams differs from Node's.
  return body === null ? Readable.from([]) : Readable.fromWeb(body as never);
}
