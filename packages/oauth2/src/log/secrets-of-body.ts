import { isFilteredKey, isFilteredMember } from "./redact.ts";

/**
 * Finds the values of a request's body that are secret by the names of their fields. Nothing shows
 * them when the server sends them back.
 *
 * @param body - Text or bytes of a form or of JSON, `URLSearchParams` or `FormData`; other bodies
 * have no fields.
 */
export function secretsOfBody(body: unknown, contentType: string | null): readonly string[] {
  if (body instanceof URLSearchParams || body instanceof FormData) return secretsOfForm(body);
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : body;
  if (typeof text !== "string") return [];
  if (/[/+]json\b/i.test(contentType ?? "")) return secretsOfJson(text);
  const isForm = contentType === null || /x-www-form-urlencoded/i.test(contentType);
  return isForm ? secretsOfForm(new URLSearchParams(text)) : [];
}

function secretsOfForm(form: Iterable<readonly [string, unknown]>): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of form) {
    if (isFilteredKey(name) && typeof value === "string") secrets.push(value);
  }
  return secrets;
}

function secretsOfJson(text: string): readonly string[] {
  const secrets: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (isFilteredMember(name)) secrets.push(...textsIn(value));
      return value;
    });
  } catch {
    // Not JSON in spite of its type: it has no fields.
  }
  return secrets;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return Array.isArray(value) ? value.flatMap(textsIn) : [];
}
