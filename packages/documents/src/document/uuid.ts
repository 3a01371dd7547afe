import { randomFillSync } from "node:crypto";

const poolBytes = 2560;
const bytesPerId = 10;
const maxCounter = 0xfff;
/** The first digit of the fourth part, whose two highest bits say that it is of this variant. */
const variantBits = "89ab";

/**
 * Makes a generator of UUIDv7 (RFC 9562, section 5.7), each greater than the one before.
 *
 * The 12 bits after the time count from a random value below 2048 in each millisecond (section 6.2,
 * method 1). The other 62 bits are random. When the clock goes back or the counter is used up, the
 * generator keeps counting ahead of the clock.
 */
export function createIdGenerator(): (now: number) => string {
  const pool = Buffer.alloc(poolBytes);
  let digits = "";
  let used = poolBytes;
  let time = 0;
  let start = "";
  let counter = 0;

  return (now) => {
    if (used + bytesPerId > poolBytes) {
      randomFillSync(pool);
      digits = pool.toString("hex");
      used = 0;
    }
    if (now > time) {
      time = now;
      counter = pool.readUInt16BE(used) & 0x7ff;
      start = startOf(time);
    } else if (counter === maxCounter) {
      time += 1;
      counter = 0;
      start = startOf(time);
    } else {
      counter += 1;
    }
    // Two of the ten bytes are for the counter; of the third two bits are for the variant's digit.
    const at = 2 * used + 4;
    const variant = variantBits.charAt(pool.readUInt8(used + 2) >>> 6);
    used += bytesPerId;
    const version = (0x7000 + counter).toString(16);
    return `${start}${version}-${variant}${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, at + 16)}`;
  };
}

/** Reads the time of an id, in milliseconds since 1970; `NaN` for most other texts. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Writes the first two parts, each with the dash behind it. */
function startOf(time: number): string {
  const stamp = time.toString(16).padStart(12, "0");
  return `${stamp.slice(0, 8)}-${stamp.slice(8)}-`;
}
