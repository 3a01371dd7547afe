import type { ServerResponse } from "node:http";
import type { ResponseFunctions } from "./send-response.ts";

/** Receives what a framework writes into a response of Node. */
export interface InterceptedWriter {
  /** The writer of a middleware outside, when somebody patched the response between the two. */
  readonly outer: InterceptedWriter | undefined;
  /** Number of writers outside. */
  readonly depth: number;
  /** Whether the framework has begun to write, and nothing was sent yet. */
  readonly holdsHead: boolean;
  /** Node's functions for headers. Throws once the framework has begun to write. */
  readonly headerFunctions: ResponseFunctions;
  writeHead(status: number, rest: readonly unknown[]): void;
  write(chunk: unknown, second: unknown, third: unknown): boolean;
  end(first: unknown, second: unknown, third: unknown): void;
  flushHeaders(): void;
}

const writerKey: unique symbol = Symbol("fetchwork writer");

type InterceptedResponse = ServerResponse & { [writerKey]?: InterceptedWriter };

/** The functions of a response, as they are now; they are called with the response. */
export function functionsOf(response: ServerResponse): ResponseFunctions {
  // oxlint-disable-next-line typescript/unbound-method
  const { writeHead, write, end, flushHeaders, setHeader, appendHeader, removeHeader } = response;
  return { writeHead, write, end, flushHeaders, setHeader, appendHeader, removeHeader };
}

/** Passes what a framework writes into a response to a writer. */
export function intercept(response: InterceptedResponse, writer: InterceptedWriter): void {
  response[writerKey] = writer;
  Object.assign(response, interceptorsAt(writer.depth));
  Object.defineProperty(response, "headersSent", headersSentProperty);
}

/** The last writer that intercepts a response. */
export function writerOf(response: InterceptedResponse): InterceptedWriter | undefined {
  return response[writerKey];
}

/** Whether nobody has patched a response since the writer of a depth intercepted it. */
export function isIntercepted(response: ServerResponse, depth: number): boolean {
  return response.end === interceptorsAt(depth).end;
}

type Interceptors = Readonly<Record<keyof ResponseFunctions, unknown>>;

const interceptors: Interceptors[] = [];

/**
 * The functions that writers of a depth put on their responses. All responses share them: V8 keeps a response that has
 * separate closures until the next major garbage collection, which doubles the cost of a request.
 */
function interceptorsAt(depth: number): Interceptors {
  return (interceptors[depth] ??= {
    writeHead(this: InterceptedResponse, status: number, ...rest: unknown[]): ServerResponse {
      writerAt(this, depth).writeHead(status, rest);
      return this;
    },
    write(this: InterceptedResponse, chunk: unknown, second: unknown, third: unknown): boolean {
      return writerAt(this, depth).write(chunk, second, third);
    },
    end(
      this: InterceptedResponse,
      first: unknown,
      second: unknown,
      third: unknown,
    ): ServerResponse {
      writerAt(this, depth).end(first, second, third);
      return this;
    },
    flushHeaders(this: InterceptedResponse): void {
      writerAt(this, depth).flushHeaders();
    },
    setHeader(this: InterceptedResponse, name: string, value: string | string[]): ServerResponse {
      writerAt(this, depth).headerFunctions.setHeader.call(this, name, value);
      return this;
    },
    appendHeader(
      this: InterceptedResponse,
      name: string,
      value: string | string[],
    ): ServerResponse {
      writerAt(this, depth).headerFunctions.appendHeader.call(this, name, value);
      return this;
    },
    removeHeader(this: InterceptedResponse, name: string): void {
      writerAt(this, depth).headerFunctions.removeHeader.call(this, name);
    },
  });
}

function writerAt(response: InterceptedResponse, depth: number): InterceptedWriter {
  let writer = response[writerKey];
  while (writer !== undefined && writer.depth > depth) writer = writer.outer;
  if (writer === undefined) throw new TypeError("the function was called without its response");
  return writer;
}

const headersSentProperty = {
  configurable: true,
  get(this: InterceptedResponse): boolean {
    if (this[writerKey]?.holdsHead === true) return true;
    return Reflect.get(Object.getPrototypeOf(this) as object, "headersSent", this) === true;
  },
};
