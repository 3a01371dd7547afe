import { decodeBase64, encodeBase64 } from "./base64.ts";

/** User name and password of HTTP Basic authentication (RFC 7617). */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the value of an `Authorization` header of the scheme `Basic` (RFC 7617, 2): standard base64 with its padding, of
 * UTF-8 without control characters, split at the first colon. Returns `undefined` when the header is missing or anything
 * else, so that no two readers can understand it differently.
 */
export function parseBasicCredentials(header: string | null): BasicCredentials | undefined {
  const encoded = header === null ? undefined : /^basic +([^ ]+) *$/i.exec(header)?.[1];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (bytes === undefined) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // Not UTF-8. Replacement characters would make different passwords equal.
    return undefined;
  }
  const colon = text.indexOf(":");
  if (colon === -1 || hasControlCharacter(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Writes the value of an `Authorization` header of the scheme `Basic` (RFC 7617, 2).
 *
 * @throws TypeError When the user name has a colon, or one of the two a control character: nobody could read them.
 */
export function formatBasicCredentials({ username, password }: BasicCredentials): string {
  if (username.includes(":"))
    throw new TypeError("a user name of HTTP Basic cannot contain a colon");
  if (hasControlCharacter(username + password)) {
    throw new TypeError("credentials of HTTP Basic cannot contain control characters");
  }
  return `Basic ${encodeBase64(new TextEncoder().encode(`${username}:${password}`))}`;
}

/** Whether a text has a control character, which neither part of Basic credentials may have (RFC 7617, 2). */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
