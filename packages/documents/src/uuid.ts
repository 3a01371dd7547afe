import { randomFillSync } from "node:crypto";

const POOL_BYTES = 2560;
const BYTES_PER_ID = 10;
const MAX_COUNTER = 0xfff;

/**
 * Makes a generator of UUIDv7 (RFC 9562, section 5.7), each greater than the one before.
 *
 * The 12 bits after the time are a counter that starts at a random value below 2048 in each
 * millisecond (section 6.2, method 1), the remaining 62 bits are random. When the clock goes back
 * or the counter is used up, the generator keeps counting ahead of the clock.
 *
 * @internal
 */
export function createIdGenerator(): (now: number) => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let time = 0;
  let counter = 0;

  return (now) => {
    if (used + BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const random = new DataView(pool.buffer, used, BYTES_PER_ID);
    used += BYTES_PER_ID;
    if (now > time) {
      time = now;
      counter = random.getUint16(8) & 0x7ff;
    } else if (counter === MAX_COUNTER) {
      time += 1;
      counter = 0;
    } else {
      counter += 1;
    }
    const stamp = time.toString(16).padStart(12, "0");
    const variant = ((random.getUint16(2) & 0x3fff) | 0x8000).toString(16);
    const tail =
      random.getUint16(0).toString(16).padStart(4, "0") +
      random.getUint32(4).toString(16).padStart(8, "0");
    const sequence = counter.toString(16).padStart(3, "0");
    return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7${sequence}-${variant}-${tail}`;
  };
}
