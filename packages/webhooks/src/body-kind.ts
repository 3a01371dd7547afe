/** A kind of body: `application/json`, or `application/x-www-form-urlencoded`. */
export type BodyKind = "json" | "form";

/** Reads a `Content-Type`; its case and its parameters do not matter. */
export function bodyKindOf(contentType: string | null): BodyKind | undefined {
  if (contentType === null) return undefined;
  // The value that nearly every sender sends.
  if (contentType === "application/json") return "json";
  const end = contentType.indexOf(";");
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === "application/json") return "json";
  return type === "application/x-www-form-urlencoded" ? "form" : undefined;
}
