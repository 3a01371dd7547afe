import { createHash } from "node:crypto";

/** Name of a user who has set none: what is before the `@`. Only the user and admins see it. */
export function nameOf(email: string): string {
  return email.slice(0, email.lastIndexOf("@"));
}

/** Picture of a user who has set none: the Gravatar of the address by SHA-256. Only the user and admins see it. */
export function pictureOf(email: string): string {
  const hash = createHash("sha256").update(email).digest("hex");
  return `https://gravatar.com/avatar/${hash}?d=identicon`;
}
