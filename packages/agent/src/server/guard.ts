import { constantTimeEqual } from "@fetchwork/kit";
import { optionError } from "../errors.ts";
import { HttpFailure } from "./http-failure.ts";

/** Rules of who may ask. */
export interface GuardOptions {
  /** Further host names, without port; `*`: any, behind a proxy that checks. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** Token for `Authorization: Bearer`; 16 to 4,096 visible characters. Default: no token. */
  readonly token?: string | undefined;
}

/** Checks requests: where they were sent to, which page sent them, and the token. */
export interface Guard {
  /**
   * @throws HttpFailure 421 for another host, 403 for a page of another origin (`Origin`; for what
   * changes something also `Sec-Fetch-Site`, Fetch Metadata)
   */
  checkOrigin(request: Request, url: URL): void;
  /** @throws HttpFailure 401 without the token */
  checkToken(request: Request): void;
}

const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Makes the checks of requests. The name of the host is checked against DNS rebinding. The origin
 * is checked against other sites that a user of this machine has open.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export function createGuard({ hosts = [], token }: GuardOptions): Guard {
  const isToken = typeof token === "string" && /^[!-~]{16,4096}$/.test(token);
  if (token !== undefined && !isToken) {
    // Never the value: it may be a real one with a line break behind it.
    throw optionError("token", typeof token, "16 to 4,096 visible ASCII characters");
  }
  for (const host of hosts) {
    const isHost = host === "*" || (typeof host === "string" && hostName(host) === host);
    if (!isHost) throw optionError("host", host, "a name or address in lower case, without a port");
  }
  const known = new Set([...loopback, ...hosts]);
  return {
    checkOrigin({ headers, method }, { host, hostname }) {
      if (!known.has("*") && !known.has(hostname)) {
        throw new HttpFailure(421, "host", "this server is not asked by that name");
      }
      const origin = headers.get("origin");
      const isOwn = origin === null || origin === `http://${host}` || origin === `https://${host}`;
      const site = headers.get("sec-fetch-site") ?? "none";
      // Anybody may link to the page; nobody else may send forms.
      const isRead = method === "GET" || method === "HEAD";
      if (isOwn && (isRead || site === "same-origin" || site === "none")) return;
      throw new HttpFailure(403, "origin", "pages of other origins may not ask");
    },
    checkToken({ headers }) {
      if (token === undefined) return;
      const [, given = ""] = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
      if (constantTimeEqual(given, token)) return;
      throw new HttpFailure(401, "token", "the token is missing or wrong", {
        headers: { "www-authenticate": 'Bearer realm="fetchwork agent"' },
      });
    },
  };
}

/**
 * Whether a request that passed the check of the origin may nevertheless come from a foreign page:
 * browsers that are older than Fetch Metadata sent forms without `Origin`.
 */
export function mayHideItsOrigin({ headers }: Request): boolean {
  if (headers.has("origin") || headers.has("sec-fetch-site")) return false;
  return /^(?:mozilla|opera)\//i.test(headers.get("user-agent") ?? "");
}

function hostName(host: string): string | undefined {
  return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).host : undefined;
}
