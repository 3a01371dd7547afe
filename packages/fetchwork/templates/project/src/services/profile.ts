// #if users
import { createHash } from "node:crypto";

/** Name of a user who has given none: what stands before the `@`. */
export function nameOf(email: string): string {
  return email.slice(0, email.lastIndexOf("@"));
}

/** Picture of a user who has given none: their Gravatar, or a pattern made of the same hash. */
export function pictureOf(email: string): string {
  const hash = createHash("sha256").update(email).digest("hex");
  return `https://gravatar.com/avatar/${hash}?d=identicon`;
}
// #endif
