import { createHash } from "node:crypto";

/** Name of a user who has set none: what is before the `@`. Only the user and admins see it. */
export function nameOf(email: string): string {
  return email.slice(0, email.lastIndexOf("@"));
}

/** Returns the URL of a picture of Gravatar: the owner's for an email, else a pattern. */
export function pictureOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  return `https://gravatar.com/avatar/${hash}?d=identicon`;
}
