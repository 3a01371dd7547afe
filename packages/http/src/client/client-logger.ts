import { isSecretName, maskForm, maskHeaders, maskJson, maskUrl } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { pairsOf } from "../message/header-list.ts";
import type { EncodedBody } from "./request/encode-body.ts";
import { headerValues } from "./response/response-headers.ts";
import { amount, optionError } from "../option-values.ts";
import { TransportError } from "./transport/transport-errors.ts";
import type { HeaderList, TransportHead, TransportRequest } from "./transport/transport.ts";

/** One line of a client's log. */
export interface ClientLogRecord {
  readonly event: "request" | "response" | "error";
  /** Number of the exchange; the same for a request and its end. */
  readonly id: number;
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** Without user information and fragment; values of secret parameters are `***`. */
  readonly url: string;
  /** 1 for the first, one more for each repetition. */
  readonly attempt: number;
  /** Name in lower case to its values; secret ones are `***`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly status?: number | undefined;
  /** Milliseconds from the request to this. */
  readonly duration?: number | undefined;
  /** The start of a body, with `bodies`; secret fields of JSON and forms are `***`. */
  readonly body?: string | undefined;
  /** Code and message of what went wrong. */
  readonly error?: string | undefined;
}

/** How requests and responses are logged. */
export interface ClientLoggerOptions {
  /** Receives each record; its errors are ignored. Default: JSON lines on `console.log`. */
  readonly sink?: ((record: ClientLogRecord) => void) | undefined;
  /**
   * Characters of a body that are logged; bodies hold personal data. Only JSON, forms and text that
   * were read whole, never streams. Default: 0, no bodies.
   */
  readonly bodies?: number | undefined;
  /**
   * Names of further headers whose values are secret. Default: none. Headers for authentication and
   * cookies, and all that are named like a key, a token or a secret, always are.
   */
  readonly maskedHeaders?: readonly string[] | undefined;
}

/** Logs the exchanges of a client. */
export class ClientLogger {
  readonly #sink: (record: ClientLogRecord) => void;
  readonly #bodies: number;
  readonly #isSecret: (name: string) => boolean;
  #last = 0;

  /** @throws HttpUsageError `ERR_HTTP_OPTION` */
  constructor(options: true | ClientLoggerOptions) {
    if (options !== true && (typeof options !== "object" || options === null)) {
      throw optionError("logger", options, "true or an object");
    }
    if (options !== true)
      checkOptions<ClientLoggerOptions>("logger", options, ["sink", "bodies", "maskedHeaders"]);
    const { sink = toConsole, bodies = 0, maskedHeaders = [] } = options === true ? {} : options;
    if (typeof sink !== "function") throw optionError("logger.sink", sink, "a function");
    if (!Array.isArray(maskedHeaders)) {
      throw optionError("logger.maskedHeaders", maskedHeaders, "a list of names of headers");
    }
    const masked = new Set(maskedHeaders.map((name: unknown) => String(name).toLowerCase()));
    this.#sink = sink;
    this.#bodies = amount(bodies, "logger.bodies");
    this.#isSecret = (name) => isSecretName(name) || masked.has(name);
  }

  /** Logs a request and returns a function that logs its end. */
  request(
    request: TransportRequest,
    sent: EncodedBody | undefined,
    attempt: number,
  ): LoggedExchange {
    this.#last += 1;
    const about = {
      id: this.#last,
      method: request.method,
      url: maskUrl(request.url.href),
      attempt,
    };
    const startedAt = performance.now();
    const write = (event: ClientLogRecord["event"], more: Partial<ClientLogRecord>): void => {
      try {
        const record = { event, time: new Date().toISOString(), ...about, ...more };
        const written: unknown = this.#sink(record);
        if (written instanceof Promise) written.catch(() => undefined);
      } catch {
        // A log that fails must not fail the request.
      }
    };
    const headersOf = (list: HeaderList): Readonly<Record<string, string>> =>
      maskHeaders(pairsOf(list), { isSecret: this.#isSecret });
    const duration = (): number => Math.round((performance.now() - startedAt) * 10) / 10;
    write("request", {
      headers: headersOf(request.headers),
      ...this.#bodyOf(request.headers, sent),
    });
    return {
      response: (response) =>
        write("response", {
          status: response.status,
          duration: duration(),
          headers: headersOf(response.headers),
          ...this.#bodyOf(response.headers, "body" in response ? response.body : undefined),
        }),
      error: (error) => write("error", { duration: duration(), error: describe(error) }),
    };
  }

  #bodyOf(headers: HeaderList, body: unknown): { readonly body?: string } {
    if (this.#bodies === 0) return {};
    const text =
      typeof body === "string"
        ? body
        : body instanceof Uint8Array
          ? new TextDecoder().decode(body)
          : undefined;
    if (text === undefined || text === "") return {};
    const [type = ""] = headerValues(headers, "content-type");
    const shown = maskBody(text, type.toLowerCase());
    return { body: shown.length > this.#bodies ? `${shown.slice(0, this.#bodies)}…` : shown };
  }
}

/** Logs the end of an exchange. */
export interface LoggedExchange {
  response(response: TransportHead): void;
  error(error: unknown): void;
}

function maskBody(text: string, type: string): string {
  if (type.startsWith("application/x-www-form-urlencoded")) return maskForm(text);
  if (/^[^;]*[/+]json\b/.test(type)) {
    try {
      return JSON.stringify(maskJson(JSON.parse(text)));
    } catch {
      return `[${text.length} characters that are not JSON]`;
    }
  }
  return type.startsWith("text/") ? text : `[${text.length} characters]`;
}

function describe(error: unknown): string {
  // Other errors are the caller's, and may contain anything.
  return error instanceof TransportError ? `${error.code}: ${error.message}` : "failed";
}

function toConsole(record: ClientLogRecord): void {
  // oxlint-disable-next-line no-console -- the default that the option names
  console.log(JSON.stringify(record));
}
