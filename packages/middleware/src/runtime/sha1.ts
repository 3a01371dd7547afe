/**
 * SHA-1 of the UTF-8 bytes of a text, in hex (FIPS 180-4). For names of things, never for secrets.
 *
 * Our own because `crypto.subtle` only answers with a promise, and a middleware that waits costs more than the sum.
 */
export function sha1Hex(text: string): string {
  const words = padded(new TextEncoder().encode(text));
  const schedule = new Int32Array(80);
  let [h0, h1, h2, h3, h4] = [
    0x67452301,
    0xefcdab89 | 0,
    0x98badcfe | 0,
    0x10325476,
    0xc3d2e1f0 | 0,
  ];
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d, e] = [h0, h1, h2, h3, h4];
    for (let round = 0; round < 80; round += 1) {
      const word =
        round < 16
          ? at(words, block + round)
          : rotate(
              at(schedule, round - 3) ^
                at(schedule, round - 8) ^
                at(schedule, round - 14) ^
                at(schedule, round - 16),
              1,
            );
      schedule[round] = word;
      const sum = (rotate(a, 5) + mix(round, b, c, d) + e + word) | 0;
      e = d;
      d = c;
      c = rotate(b, 30);
      b = a;
      a = sum;
    }
    h0 = (h0 + a) | 0;
    h1 = (h1 + b) | 0;
    h2 = (h2 + c) | 0;
    h3 = (h3 + d) | 0;
    h4 = (h4 + e) | 0;
  }
  return [h0, h1, h2, h3, h4].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** The message as big-endian words: a one bit, zeros, and its length in bits at the end of the last block. */
function padded(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(((bytes.length + 8) >>> 6) * 16 + 16);
  bytes.forEach((byte, index) => {
    words[index >>> 2] = at(words, index >>> 2) | (byte << (24 - (index & 3) * 8));
  });
  const end = bytes.length;
  words[end >>> 2] = at(words, end >>> 2) | (0x80 << (24 - (end & 3) * 8));
  words[words.length - 2] = Math.floor(end / 0x20000000);
  words[words.length - 1] = (end << 3) | 0;
  return words;
}

/** Function and constant of the round, added up. */
function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}
