/** More than any client lists. Further ranges are ignored. */
const maxRanges = 50;

/**
 * The media type that an `Accept` header prefers (RFC 9110, 12.5.1); the first one of equal
 * weights. Also the first without a header, and when it accepts none of them.
 *
 * @param types - Lower case, without parameters.
 */
export function preferredType(accept: string | null, types: readonly string[]): string | undefined {
  if (accept === null) return types[0];
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",", maxRanges)) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : /^[01](?:\.\d{0,3})?$/.test(weight) ? +weight : 0;
    // The best of several ranges that differ in parameters alone counts.
    weights.set(type, Math.max(weights.get(type) ?? 0, Math.min(quality, 1)));
  }
  let best = types[0];
  let highest = 0;
  for (const type of types) {
    const group = `${type.slice(0, type.indexOf("/"))}/*`;
    const weight = weights.get(type) ?? weights.get(group) ?? weights.get("*/*") ?? 0;
    if (weight > highest) {
      best = type;
      highest = weight;
    }
  }
  return best;
}
