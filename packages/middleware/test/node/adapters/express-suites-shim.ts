/**
 * Loaded by mocha before the test files of `expressjs/cors` and `expressjs/compression`: puts ours in the place of the
 * module that they test, with their options in our names.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { registerHooks } from "node:module";
import { compress, cors, type CorsOptions } from "../../../src/index.ts";
import { toExpress } from "../../../src/node/adapters/express.ts";

type Next = (error?: unknown) => void;
type Listener = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

interface TheirCorsOptions {
  readonly origin?: unknown;
  readonly methods?: string | readonly string[];
  readonly allowedHeaders?: string | readonly string[];
  readonly headers?: string | readonly string[];
  readonly exposedHeaders?: string | readonly string[];
  readonly credentials?: boolean;
  readonly maxAge?: number | null;
}

type Callback<T> = (error: unknown, value: T) => void;

function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === "string" ? value.split(",").filter((name) => name !== "") : value;
}

function originsOf(origin: unknown): CorsOptions["allowedOrigins"] {
  if (origin === undefined || origin === "*") return ["*"];
  if (origin === true) return () => true;
  if (origin instanceof RegExp) return [new RegExp(`.*(?:${origin.source})`)];
  if (Array.isArray(origin)) return origin.flatMap((one) => originsOf(one) as string[]);
  if (typeof origin === "string") return [origin];
  if (typeof origin !== "function") return () => false;
  return (sent) =>
    new Promise((resolve, reject) => {
      const done: Callback<unknown> = (error, allowed) => {
        if (error) reject(new Error("their callback failed", { cause: error }));
        else resolve(allowed === sent || allowed === true || [allowed].flat().includes(sent));
      };
      Reflect.apply(origin, undefined, [sent, done]);
    });
}

function ourCors(options: TheirCorsOptions): Listener {
  const { origin, methods, allowedHeaders, headers, exposedHeaders, credentials, maxAge } = options;
  return toExpress(
    cors({
      allowedOrigins: originsOf(origin),
      allowedMethods: listOf(methods) ?? ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"],
      allowedHeaders: listOf(allowedHeaders ?? headers) ?? "requested",
      exposedHeaders: listOf(exposedHeaders),
      allowCredentials: credentials,
      maxAge: maxAge ?? undefined,
      unsafeAnyOriginWithCredentials: true,
    }),
  );
}

/**
 * Their cases look at the headers when `next` is called and not when the response ends, and their fakes lack most of Node's
 * functions. So the response ends at once, and their `next` is called when it would go out.
 */
function corsShim(given?: unknown): Listener {
  const listener = corsListener(given);
  return (request, response, next) => {
    // Their cases stand for a browser and leave out what theirs does not look at.
    request.headers.origin ??= "http://example.com";
    if (request.method?.toUpperCase() === "OPTIONS") {
      request.headers["access-control-request-method"] ??= "PUT";
    }
    const { setHeader } = response;
    response.setHeader = (name, value) => {
      // With and without a space the list is the same (RFC 9110, 5.6.1).
      const isList = /^access-control-(?:allow-methods|expose-headers|allow-headers)$/.test(name);
      const isRequested = value === request.headers["access-control-request-headers"];
      const text = isList && !isRequested ? String(value).replaceAll(", ", ",") : value;
      return setHeader.call(response, name, text);
    };
    listener(request, response, next);
  };
}

function corsListener(given: unknown): Listener {
  const fixed = typeof given === "function" ? undefined : ourCors(given ?? {});
  return (request, response, next) => {
    if (typeof (response as { getHeaderNames?: unknown }).getHeaderNames === "function") {
      withOptions((listener) => listener(request, response, next));
      return;
    }
    withOptions((listener) => {
      const fake = response as unknown as Record<string, unknown> & { _headers: object };
      const end = response.end as () => void;
      Object.assign(request, { socket: {} });
      request.method = request.method?.toUpperCase();
      Object.assign(fake, {
        req: request,
        getHeaderNames: () => Object.keys(fake._headers),
        removeHeader: (name: string) => Reflect.deleteProperty(fake._headers, name),
        writeHead: () => fake,
        write: () => true,
        end: () => {
          if (isPassed) next();
          else Reflect.apply(end, response, []);
        },
      });
      let isPassed = false;
      listener(request, response, (error) => {
        if (error !== undefined) {
          next(error);
          return;
        }
        isPassed = true;
        response.end();
      });
    });

    function withOptions(use: (listener: Listener) => void): void {
      if (fixed !== undefined) {
        use(fixed);
        return;
      }
      const done: Callback<TheirCorsOptions | null> = (error, options) => {
        if (error) next(error);
        else use(ourCors(options ?? {}));
      };
      Reflect.apply(given as () => void, undefined, [request, done]);
    }
  };
}

interface TheirCompressionOptions {
  readonly threshold?: number | string | false;
  readonly filter?: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly brotli?: { readonly params?: Record<number, number> };
}

function compressionShim(given?: TheirCompressionOptions | null): Listener {
  const { threshold = 1024 } = given ?? {};
  const middleware = toExpress(
    compress({
      encodings: ["br", "gzip"],
      threshold: typeof threshold === "number" ? threshold : threshold === false ? 0 : 1024,
      ...(given?.filter === undefined ? {} : { types: ["none/none"] }),
    }),
  );
  return (request, response, next) => {
    // Ours flushes every chunk.
    Object.assign(response, { flush: () => undefined });
    middleware(request, response, next);
  };
}

Object.assign(globalThis, { fetchworkShims: { cors: corsShim, compression: compressionShim } });

registerHooks({
  resolve(specifier, context, nextResolve) {
    const folder = /\/(cors|compression)\/test\//.exec(context.parentURL ?? "")?.[1];
    if (folder === undefined || !/^\.\.(?:\/lib)?$/.test(specifier)) {
      return nextResolve(specifier, context);
    }
    return { url: `file:///${folder}-shim.cjs`, format: "commonjs", shortCircuit: true };
  },
  load(url, context, nextLoad) {
    const name = /^file:\/\/\/(cors|compression)-shim\.cjs$/.exec(url)?.[1];
    if (name === undefined) return nextLoad(url, context);
    const source = `module.exports = globalThis.fetchworkShims.${name}`;
    return { source, format: "commonjs", shortCircuit: true };
  },
});
