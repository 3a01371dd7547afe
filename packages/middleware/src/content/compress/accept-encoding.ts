/** One element of `Accept-Encoding`. */
interface WeightedCoding {
  readonly name: string;
  readonly weight: number;
}

/**
 * Whether an `Accept-Encoding` field accepts a content coding (RFC 9110, 12.5.3).
 *
 * A coding that is named counts for itself and outranks `*`; the lowest weight counts when it is named twice. `x-gzip` is
 * `gzip`. No field, an empty one, and a weight that is no weight accept nothing: a plain body is never wrong.
 *
 * @param field - Value of the header, several fields joined by commas; null when there is none.
 * @param coding - Such as `gzip`, in lower case.
 */
export function acceptsEncoding(field: string | null, coding: string): boolean {
  return field !== null && weightOf(parse(field), coding) > 0;
}

/**
 * Chooses the content coding that an `Accept-Encoding` field likes best; the first of them on a tie.
 *
 * Gives `undefined` when it accepts none, or names `identity` with a greater weight.
 *
 * @param offered - Codings that can be sent, the preferred one first, in lower case.
 */
export function chooseEncoding<Coding extends string>(
  field: string | null,
  offered: readonly Coding[],
): Coding | undefined {
  if (field === null) return undefined;
  const codings = parse(field);
  let chosen: Coding | undefined;
  let best = 0;
  for (const coding of offered) {
    const weight = weightOf(codings, coding);
    if (weight > best) {
      best = weight;
      chosen = coding;
    }
  }
  const prefersPlain = codings.some(({ name, weight }) => name === "identity" && weight > best);
  return prefersPlain ? undefined : chosen;
}

function parse(field: string): WeightedCoding[] {
  const codings: WeightedCoding[] = [];
  for (const element of field.split(",")) {
    const [coding = "", ...parameters] = element.split(";");
    const name = coding.trim().toLowerCase();
    if (name === "") continue;
    codings.push({ name: name === "x-gzip" ? "gzip" : name, weight: weightIn(parameters) });
  }
  return codings;
}

function weightIn(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== "q") continue;
    const value = parameter.slice(equals + 1).trim();
    return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
  }
  return 1;
}

function weightOf(codings: readonly WeightedCoding[], wanted: string): number {
  return lowest(codings, wanted) ?? lowest(codings, "*") ?? 0;
}

function lowest(codings: readonly WeightedCoding[], wanted: string): number | undefined {
  let found: number | undefined;
  for (const { name, weight } of codings) {
    if (name === wanted && (found === undefined || weight < found)) found = weight;
  }
  return found;
}
