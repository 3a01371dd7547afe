import { randomBytes } from "node:crypto";

let lastTime = 0;
let counter = 0;

/** Makes a UUIDv7 (RFC 9562, section 5.7), greater than those that this process made before. */
export function taskId(): string {
  const now = Date.now();
  if (now > lastTime) {
    lastTime = now;
    counter = 0;
  } else if (counter === 0xfff) {
    lastTime += 1;
    counter = 0;
  } else {
    counter += 1;
  }
  const bytes = randomBytes(8);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x80;
  const time = lastTime.toString(16).padStart(12, "0");
  const tail = bytes.toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
