import type { BodyKind } from "../vendors/define-vendor.ts";

/** Reads a `Content-Type`: its media type, in any case, with parameters or without. */
export function kindOf(contentType: string | null): BodyKind | undefined {
  if (contentType === null) return undefined;
  // What nearly every sender sends.
  if (contentType === "application/json") return "json";
  const end = contentType.indexOf(";");
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === "application/json") return "json";
  return type === "application/x-www-form-urlencoded" ? "form" : undefined;
}
