import type { ConnectionFailure } from "./transport-errors.ts";

/** The code of an error, of one of its causes, or of the first of several simultaneous ones. */
export function systemCodeOf(thrown: unknown, depth: number = 0): string | undefined {
  if (typeof thrown !== "object" || thrown === null || depth > 5) return undefined;
  const code = "code" in thrown ? thrown.code : undefined;
  if (typeof code === "string" && /^[A-Z]\w{2,63}$/.test(code)) return code;
  const [first] =
    "errors" in thrown && Array.isArray(thrown.errors) ? (thrown.errors as unknown[]) : [];
  return systemCodeOf(first ?? ("cause" in thrown ? thrown.cause : undefined), depth + 1);
}

/** Returns the meaning of a code of a system, a runtime, TLS or undici for a connection. */
export function connectionReasonOf(code: string | undefined): ConnectionFailure {
  return reasons.find(([codes]) => code !== undefined && codes.test(code))?.[1] ?? "other";
}

const reasons: readonly (readonly [codes: RegExp, reason: ConnectionFailure])[] = [
  [/^(?:ECONNREFUSED|ConnectionRefused)$/, "refused"],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ConnectionClosed)$/, "reset"],
  [/^(?:ENOTFOUND|EAI_\w+)$/, "dns"],
  [/CERT|^(?:ERR_(?:TLS|SSL|OSSL)_|CRL_|UNABLE_TO_)/, "tls"],
  [/^(?:EPROTO|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED)$/, "tls"],
  [
    /^(?:E(?:HOST|NET)(?:UNREACH|DOWN)|ETIMEDOUT|EADDRNOTAVAIL|ENOENT|UND_ERR_CONNECT_TIMEOUT)$/,
    "unreachable",
  ],
];
