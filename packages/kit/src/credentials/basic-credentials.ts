import { UsageError } from "../errors/fetchwork-error.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

/** User name and password of HTTP Basic authentication (RFC 7617). */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses the value of an `Authorization` header of the scheme `Basic` (RFC 7617, 2): standard
 * base64 with padding, of UTF-8 without control characters, split at the first colon. Returns
 * `undefined` for a missing header and for anything else, so that no two readers can interpret it
 * differently.
 */
export function parseBasicCredentials(header: string | null): BasicCredentials | undefined {
  const encoded = header === null ? undefined : /^basic +([^ ]+) *$/i.exec(header)?.[1];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  if (bytes === undefined) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // Invalid UTF-8. Replacement characters would make different passwords equal.
    return undefined;
  }
  const colon = text.indexOf(":");
  if (colon === -1 || hasControlCharacter(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Formats the value of an `Authorization` header of the scheme `Basic` (RFC 7617, 2).
 *
 * @throws UsageError `ERR_KIT_CREDENTIALS` for a user name with a colon, and for a user name or
 * password with a control character: no server can read them.
 */
export function formatBasicCredentials({ username, password }: BasicCredentials): string {
  if (username.includes(":")) throw invalid("a user name of HTTP Basic must not contain a colon");
  if (hasControlCharacter(username + password)) {
    throw invalid("credentials of HTTP Basic must not contain control characters");
  }
  return `Basic ${encodeBase64(new TextEncoder().encode(`${username}:${password}`))}`;
}

/** Whether a text has a control character, which Basic credentials must not have (RFC 7617, 2). */
function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

function invalid(message: string): UsageError {
  return new UsageError("ERR_KIT_CREDENTIALS", message);
}
