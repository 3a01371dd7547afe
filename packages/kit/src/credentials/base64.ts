// As many as any engine takes for arguments.
const partLength = 8192;

/** Writes bytes in standard base64 with padding (RFC 4648, 4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += partLength) {
    binary += String.fromCharCode(...bytes.subarray(start, start + partLength));
  }
  return btoa(binary);
}

/** Reads standard base64 with its padding (RFC 4648, 4). Returns `undefined` for anything else, blanks included. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // One search for what does not belong: a pattern of all that does would fill the stack with a long text.
  const digits = text.slice(0, text.length - padding);
  if (text.length % 4 !== 0 || /[^A-Za-z\d+/]/.test(digits)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
