/** Whether a `content-type` is one of JSON: `application/json`, or with the suffix of RFC 6839. */
export function isJsonType(type: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(type);
}
