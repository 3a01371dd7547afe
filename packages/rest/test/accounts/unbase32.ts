/** Reads base32 without padding (RFC 4648 section 6). */
export function unbase32(text: string): Buffer {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = Array.from(text, (one) => alphabet.indexOf(one).toString(2).padStart(5, "0")).join(
    "",
  );
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((one) => Number.parseInt(one, 2)));
}
