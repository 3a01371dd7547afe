// Every engine accepts this many arguments.
const partLength = 8192;

/** Encodes bytes as standard base64 with padding (RFC 4648, 4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += partLength) {
    binary += String.fromCharCode(...bytes.subarray(start, start + partLength));
  }
  return btoa(binary);
}

/** Encodes bytes as base64url without padding (RFC 4648, 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes standard base64 with padding (RFC 4648, 4); `undefined` for anything else. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // Searches for one invalid character: a pattern that matches the whole of a long text would
  // overflow the stack.
  const digits = text.slice(0, text.length - padding);
  if (text.length % 4 !== 0 || /[^A-Za-z\d+/]/.test(digits)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
