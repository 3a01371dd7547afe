/** Number of bytes that are looked at. */
export const sniffedBytes = 512;

// Formats that begin like text and are not (MIME Sniffing, 6).
const binaryPrefixes = [
  "%PDF-",
  "GIF87a",
  "GIF89a",
  "%!PS-Adobe-",
  "wOFF",
  "wOF2",
  "OTTO",
  "RIFF",
  "PK",
];
const htmlPrefix =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[\s>]/i;

/**
 * Guesses from a body's first bytes whether it is text, and of which kind, as browsers do without
 * `Content-Type` (MIME Sniffing, 7): `text/html`, `text/xml`, `text/plain`, or
 * `application/octet-stream`.
 */
export function sniffType(bytes: Uint8Array): string {
  const start = bytes.subarray(0, sniffedBytes);
  if (hasByteOrderMark(start)) return "text/plain";
  if (start.some(isBinary)) return "application/octet-stream";
  const text = String.fromCharCode(...start);
  if (binaryPrefixes.some((prefix) => text.startsWith(prefix))) return "application/octet-stream";
  const visible = text.trimStart();
  if (visible.startsWith("<?xml")) return "text/xml";
  return htmlPrefix.test(visible) ? "text/html" : "text/plain";
}

function hasByteOrderMark([first, second, third]: Uint8Array): boolean {
  if (first === 0xef && second === 0xbb && third === 0xbf) return true;
  return (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);
}

/** "Binary data byte" of MIME Sniffing, 3: a control that no text has. */
function isBinary(byte: number): boolean {
  return byte <= 8 || byte === 11 || (byte >= 14 && byte <= 26) || (byte >= 28 && byte <= 31);
}
