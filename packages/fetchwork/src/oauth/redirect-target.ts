import { CommandUsageError } from "../command/usage-error.ts";

/** Where the browser comes back to on this machine (RFC 8252, 7.3). */
export interface RedirectTarget {
  /** Address to listen on. */
  readonly address: "127.0.0.1" | "::1";
  /** Host as the browser names it. */
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  readonly path: string;
}

const hosts: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Reads the redirect URI that the client is registered with. Without a port it is any port, as RFC
 * 8252 wants servers to allow.
 *
 * @throws CommandUsageError
 */
export function redirectTargetOf(text: string): RedirectTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHere = url?.protocol === "http:" && hosts.includes(url.hostname);
  if (!isHere || url.search + url.hash + url.username + url.password !== "") {
    throw new CommandUsageError(
      "--redirect-uri must be an http URL on 127.0.0.1, [::1] or localhost, without query or fragment",
    );
  }
  const address = url.hostname === "[::1]" ? "::1" : "127.0.0.1";
  return { address, host: url.hostname, port: Number(url.port), path: url.pathname };
}
