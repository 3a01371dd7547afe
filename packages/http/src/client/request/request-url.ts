import { encodeBase64 } from "@fetchwork/kit";
import { HttpUsageError } from "../../errors.ts";

/** A URL as a transport gets it, and the credentials that stood in it. */
export interface RequestUrl {
  /** Without user information and fragment. Shared by requests: never changed. */
  readonly url: URL;
  /** `Basic …`, when there was user information. */
  readonly authorization: string | undefined;
}

// Programs ask for few addresses again and again, and parsing one costs more than all else that
// `send` does.
const parsed = new Map<string, RequestUrl>();
const maxParsed = 500;
const longestKept = 1024;

/**
 * Parses the absolute URL of a request.
 *
 * @throws HttpUsageError `ERR_HTTP_URL`, without the URL itself, which may hold secrets
 */
export function parseRequestUrl(text: string): RequestUrl {
  const found = parsed.get(text);
  if (found !== undefined) return found;
  const result = parse(text);
  if (result.authorization === undefined && text.length <= longestKept) {
    if (parsed.size >= maxParsed) parsed.clear();
    parsed.set(text, result);
  }
  return result;
}

function parse(text: string): RequestUrl {
  // The parser would drop tabs and line breaks. The URL that is used would not be the one that was
  // checked.
  // oxlint-disable-next-line no-control-regex
  if (typeof text !== "string" || /[\0-\x1f\x7f]/.test(text)) {
    throw new HttpUsageError("ERR_HTTP_URL", "the URL must be text without control characters");
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined && isAbsolute(text)) {
    throw new HttpUsageError(
      "ERR_HTTP_URL",
      "the URL has a host or port that cannot be; an IPv6 address cannot have a zone there",
    );
  }
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new HttpUsageError(
      "ERR_HTTP_URL",
      "the URL is not absolute with http: or https:, and the client has no baseUrl to put before it",
    );
  }
  url.hash = "";
  if (url.username === "" && url.password === "") return { url, authorization: undefined };
  const authorization = basicCredentials(url);
  url.username = "";
  url.password = "";
  return { url, authorization };
}

/** The user information of a URL as credentials of HTTP Basic (RFC 7617), in UTF-8. */
export function basicCredentials({ username, password }: URL): string {
  const text = `${decode(username)}:${decode(password)}`;
  return `Basic ${encodeBase64(new TextEncoder().encode(text))}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a URL names its scheme. */
export function isAbsolute(url: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(url);
}

/** Puts a base before a relative URL, with one slash: it cannot name another host. */
export function joinUrl(base: string, url: string): string {
  if (url === "" || url.startsWith("?") || url.startsWith("#")) return base + url;
  return `${base.endsWith("/") ? base.slice(0, -1) : base}/${url.startsWith("/") ? url.slice(1) : url}`;
}
