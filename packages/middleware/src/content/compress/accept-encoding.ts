/** One element of `Accept-Encoding`. */
interface WeightedCoding {
  readonly name: string;
  readonly weight: number;
}

/**
 * Chooses the content coding that an `Accept-Encoding` field prefers (RFC 9110, 12.5.3); the first
 * one of equal weights. Returns undefined when it accepts none, or prefers `identity`.
 *
 * A coding that is named has its own weight, others that of `*`. The lower of two weights for one
 * coding counts. `x-gzip` is `gzip`. A missing or empty field and an invalid weight accept nothing,
 * because a plain body is always right.
 *
 * @param field - Value of the header, with several fields joined by commas, or null.
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
    const weight = lowestWeight(codings, coding) ?? lowestWeight(codings, "*") ?? 0;
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

function lowestWeight(codings: readonly WeightedCoding[], wanted: string): number | undefined {
  let found: number | undefined;
  for (const { name, weight } of codings) {
    if (name === wanted && (found === undefined || weight < found)) found = weight;
  }
  return found;
}
