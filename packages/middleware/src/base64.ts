const strict = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** Bytes of standard base64 with its padding (RFC 4648, 4); `undefined` for everything else, blanks included. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!strict.test(text)) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
