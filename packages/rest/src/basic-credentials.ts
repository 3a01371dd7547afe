/** What HTTP Basic carries. */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads an `Authorization` header with Basic credentials in UTF-8 (RFC 7617 section 2). */
export function parseBasicCredentials(header: string | null): BasicCredentials | undefined {
  const encoded =
    header === null ? undefined : /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  let text: string;
  try {
    text = utf8.decode(Buffer.from(encoded, "base64"));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(":");
  // RFC 7617 section 2: neither part has control characters.
  if (colon < 0 || /\p{Cc}/u.test(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
