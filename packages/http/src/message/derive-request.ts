import { checkOptions } from "../check-options.ts";
import { HttpUsageError } from "../errors.ts";
import { HeaderList, nameOf, tokenPattern, valueOf } from "./header-list.ts";
import { define } from "./fast-response.ts";
import { LazyRequest, requestSettings, type BodySource } from "./lazy-request.ts";
import { limitWholeReads } from "./read-whole.ts";

/** Differences of a derived request; everything else is the source's. */
export interface DeriveOptions {
  /** Absolute HTTP URL, or a path of the same origin, also with `//`. Default: the source's. */
  readonly url?: string | URL | undefined;
  /** Default: the source's. `GET` and `HEAD` have no body. */
  readonly method?: string | undefined;
  /** Headers to set; null removes. Default: none are changed. */
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  /**
   * Replaces the body; null removes it. Removes `Content-Length` and `Transfer-Encoding` of the
   * source. `Content-Type` goes when the new body has its own (form data, search parameters, a blob
   * with a type). Default: the source's body, which is not read before the derived one is.
   */
  readonly body?: RequestInit["body"] | undefined;
  /** Replaces the signal; a getter runs only when the signal is read. Default: the source's. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a request that differs from another one, without copying it.
 *
 * Headers are looked up in the source, and the body is streamed from it. The signal is read on
 * demand only, so deriving adds no listener. The source may be a platform's request, one of a
 * server on Node, or a derived one. The result has the whole interface of `Request`; `fetch()` and
 * `new Request()` accept {@link nativeRequest} of it.
 *
 * @example
 * ```ts
 * const stripPrefix: Middleware = (next) => (request, context) =>
 *   next(deriveRequest(request, { url: new URL(request.url).pathname.slice(4) }), context);
 * ```
 * @throws HttpUsageError `ERR_HTTP_URL`, `ERR_HTTP_METHOD` or `ERR_HTTP_HEADER` when a part is
 * invalid
 */
export function deriveRequest(request: Request, options: DeriveOptions): Request {
  checkOptions<DeriveOptions>("deriveRequest", options, [
    "url",
    "method",
    "headers",
    "body",
    "signal",
  ]);
  const { url, method, headers, body } = options;
  const changes =
    headers === undefined ? new Map<string, string | null>() : checkHeaderChanges(headers);
  const newMethod = method === undefined ? undefined : checkMethod(method);
  const isReplaced = body !== undefined || (newMethod !== undefined && isBodyless(newMethod));
  const newBody = isReplaced ? (isBodyless(newMethod ?? request.method) ? null : body) : undefined;
  // Converting a form chooses its boundary, so that must happen once, and before the headers are
  // made.
  const holder = newBody instanceof FormData ? new Response(newBody) : undefined;
  if (newBody !== undefined) describeBody(newBody, holder, changes);
  return new DerivedRequest(request, {
    url: url === undefined ? undefined : resolveUrl(url, request),
    method: newMethod,
    changes: changes.size === 0 ? undefined : changes,
    body: newBody,
    holder,
    options,
  });
}

interface Parts {
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly changes: HeaderChanges | undefined;
  readonly body: BodyInit | null | undefined;
  readonly holder: Response | undefined;
  readonly options: Pick<DeriveOptions, "signal">;
}

class DerivedRequest extends LazyRequest {
  static {
    for (const name of Object.keys(requestSettings) as (keyof typeof requestSettings)[]) {
      Object.defineProperty(this.prototype, name, {
        get(this: DerivedRequest): unknown {
          return this.#source[name];
        },
      });
    }
    // These two depend on `Content-Type`, so the headers must be the derived ones.
    for (const name of ["blob", "formData"] as const) {
      define(this.prototype, name, function (this: DerivedRequest) {
        return (this.#changesType() ? this._request : this.bodySource())[name]();
      });
    }
  }

  readonly #source: Request;
  readonly #parts: Parts;
  #headers: Headers | undefined;
  /** Holds a body that replaces the source's; `Response` converts bodies of all kinds. */
  #holder: Response | undefined;
  #native: Request | undefined;

  constructor(source: Request, parts: Parts) {
    super();
    this.#source = source;
    this.#parts = parts;
    this.#holder = parts.holder;
  }

  get url(): string {
    return this.#parts.url ?? this.#source.url;
  }

  get method(): string {
    return this.#parts.method ?? this.#source.method;
  }

  get headers(): Headers {
    if (this.#headers !== undefined) return this.#headers;
    const { changes } = this.#parts;
    const { headers } = this.#source;
    this.#headers = changes === undefined ? headers : changed(headers, changes);
    return this.#headers;
  }

  get signal(): AbortSignal {
    return this.#parts.options.signal ?? this.#source.signal;
  }

  get _request(): Request {
    if (this.#native !== undefined) return this.#native;
    const { method, headers, signal, body } = this;
    const { cache, credentials, integrity, keepalive, redirect, referrerPolicy } = this;
    const init = { cache, credentials, integrity, keepalive, redirect, referrerPolicy };
    const own = { method, headers: [...headers] as [string, string][], signal, body };
    this.#native = new Request(this.url, {
      ...init,
      ...own,
      ...(body === null ? undefined : { duplex: "half" }),
    });
    if (body !== null) limitWholeReads(this.#native, body);
    return this.#native;
  }

  protected override bodySource(): BodySource {
    if (this.#native !== undefined) return this.#native;
    const { body } = this.#parts;
    if (body === undefined) return this.#source;
    if (this.#holder !== undefined) return this.#holder;
    this.#holder = new Response(body);
    if (body instanceof ReadableStream) limitWholeReads(this.#holder, body);
    return this.#holder;
  }

  #changesType(): boolean {
    return this.#parts.body !== undefined || this.#parts.changes?.has("content-type") === true;
  }
}

/** Adds what a new body means for the headers, except where the caller has set them. */
function describeBody(
  body: BodyInit | null,
  holder: Response | undefined,
  changes: Map<string, string | null>,
): void {
  const setUnlessPresent = (name: string, value: string | null): void => {
    if (!changes.has(name)) changes.set(name, value);
  };
  setUnlessPresent("content-length", null);
  setUnlessPresent("transfer-encoding", null);
  if (body === null) {
    setUnlessPresent("content-type", null);
    setUnlessPresent("content-encoding", null);
  } else if (holder !== undefined) {
    setUnlessPresent("content-type", holder.headers.get("content-type"));
  } else if (body instanceof URLSearchParams) {
    setUnlessPresent("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  } else if (body instanceof Blob && body.type !== "") {
    setUnlessPresent("content-type", body.type);
  }
}

function isBodyless(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function checkMethod(method: string): string {
  const upper = method.toUpperCase();
  if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK") {
    throw new HttpUsageError("ERR_HTTP_METHOD", `a Request cannot have the method ${upper}`);
  }
  if (!tokenPattern.test(method)) {
    throw new HttpUsageError("ERR_HTTP_METHOD", `${JSON.stringify(method)} is not a valid method`);
  }
  return standardMethods.has(upper) ? upper : method;
}

// Fetch, 2.2.1: these become upper case; others, such as PATCH, stay as they are.
const standardMethods = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);

function resolveUrl(url: string | URL, request: Request): string {
  const input = String(url);
  // The URL parser drops tabs and line breaks silently, so a check of the input would see another
  // URL.
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f]/.test(input)) {
    throw new HttpUsageError(
      "ERR_HTTP_URL",
      `${JSON.stringify(input)} contains a control character`,
    );
  }
  const absolute = input.startsWith("/") ? originOf(request.url) + input : input;
  const parsed = URL.canParse(absolute) ? new URL(absolute) : undefined;
  if (parsed === undefined || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    throw new HttpUsageError(
      "ERR_HTTP_URL",
      `${JSON.stringify(input)} is neither a path nor an absolute http(s) URL`,
    );
  }
  return parsed.href;
}

/** The part of a serialised URL before its path. */
function originOf(url: string): string {
  const end = url.indexOf("/", url.indexOf("://") + 3);
  return end === -1 ? url : url.slice(0, end);
}

/** Changes to headers: name in lower case to value; null removes. */
type HeaderChanges = ReadonlyMap<string, string | null>;

/**
 * Checks header changes and returns them with names in lower case.
 *
 * @throws HttpUsageError `ERR_HTTP_HEADER`
 */
function checkHeaderChanges(
  headers: Readonly<Record<string, string | null>>,
): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const [name, value] of Object.entries(headers)) {
    try {
      // The platform would remove one at an end.
      if (value !== null && /[\r\n]/.test(value)) throw new TypeError("a value has a line break");
      changes.set(nameOf(name), value === null ? null : valueOf(value));
    } catch (error) {
      const problem = error instanceof TypeError ? error.message : "it cannot be a text";
      throw new HttpUsageError("ERR_HTTP_HEADER", `header ${JSON.stringify(name)}: ${problem}`);
    }
  }
  return changes;
}

function changed(source: Headers, changes: HeaderChanges): Headers {
  const headers = HeaderList.from(source);
  for (const [name, value] of changes) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
}
