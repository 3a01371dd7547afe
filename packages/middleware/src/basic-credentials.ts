import { decodeBase64 } from "./base64.ts";

/** User and password of a request. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the value of an `Authorization` header of the scheme `Basic` (RFC 7617, 2): standard base64 of UTF-8, cut at the
 * first colon. Gives `undefined` when there is none, or when it is not exactly that.
 */
export function parseBasicCredentials(header: string | null): BasicCredentials | undefined {
  if (header === null || header.slice(0, 6).toLowerCase() !== "basic ") return undefined;
  const bytes = decodeBase64(header.slice(6).trim());
  if (bytes === undefined) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // Not UTF-8. Replacement characters would make different passwords equal.
    return undefined;
  }
  const colon = text.indexOf(":");
  if (colon === -1) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
