import { OAuth2ConnectionError } from "../errors.ts";

/** Messages for the error codes of operating systems and TLS; anything else is an incomplete response. */
const problems: readonly (readonly [pattern: RegExp, problem: (origin: string) => string])[] = [
  [/^ECONNREFUSED$/, (origin) => `connection refused by ${origin}`],
  [
    /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    (origin) => `connection closed by ${origin}`,
  ],
  [/^(?:ENOTFOUND|EAI_.+)$/, (origin) => `cannot resolve the host name of ${origin}`],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|ETIMEDOUT|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/,
    (origin) => `cannot reach ${origin}`,
  ],
  [
    /^(?:EPROTO|ERR_TLS_.+|ERR_SSL_.+|ERR_OSSL_.+|CERT_.+|CRL_.+|UNABLE_TO_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH|INVALID_CA)$/,
    (origin) => `no secure connection to ${origin}`,
  ],
];

/** Makes the error of an exchange that failed. The message has no path, since that may hold a secret. */
export function connectionFailure({ origin }: URL, cause: unknown): OAuth2ConnectionError {
  const code = systemCodeOf(cause);
  const problem = problems.find(([pattern]) => pattern.test(code))?.[1];
  const message = problem?.(origin) ?? `no complete response from ${origin}`;
  return new OAuth2ConnectionError(code === "" ? message : `${message} (${code})`, { cause });
}

/** The code of an error, of its cause, or of the first of several that were tried; empty when there is none. */
function systemCodeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return "";
  const code: unknown = Reflect.get(error, "code");
  if (typeof code === "string" && /^[A-Z][A-Z\d_]{2,63}$/.test(code)) return code;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return systemCodeOf(inner, depth + 1);
}
