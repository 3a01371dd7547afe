/** One challenge of a `WWW-Authenticate` field (RFC 9110, 11.6.1). */
export interface Challenge {
  /** Name of the scheme, in lower case: `withAccessToken`, `dpop`, `basic`. */
  readonly scheme: string;
  /** Parameters by names in lower case, with values without quotes. The first of repeats counts. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The one value of schemes that have no parameters, such as `Negotiate`. */
  readonly token68?: string | undefined;
}

/** Maximum characters that {@link parseChallenges} reads; a longer field has no challenges. */
const maxLength = 16_384;

/** Parts between commas, of which those in a quoted text separate nothing. */
const parts = /(?:[^",]|"(?:[^"\\]|\\[^])*"?)+/g;
const token = String.raw`[!#$%&'*+\-.^_\`|~\dA-Za-z]+`;
/** A scheme, a parameter, or a scheme with its first parameter or its one value. */
const part = new RegExp(
  String.raw`^(?:(?<scheme>${token})(?:[ \t]+|$))?` +
    String.raw`(?:(?<name>${token})[ \t]*=[ \t]*(?:"(?<quoted>(?:[^"\\]|\\[^])*)"|(?<plain>${token}))` +
    String.raw`|(?<token68>[A-Za-z\d\-._~+/]+=*))?$`,
);

/**
 * Reads the challenges of a `WWW-Authenticate` field, several fields joined with commas included.
 *
 * @returns `[]` when there is none, or when the field is malformed or longer than 16 KiB
 */
export function parseChallenges(field: string | null | undefined): readonly Challenge[] {
  if (field === null || field === undefined || field.length > maxLength) return [];
  const challenges: (Challenge & { readonly parameters: Map<string, string> })[] = [];
  for (const [found] of field.matchAll(parts)) {
    const text = found.trim();
    if (text === "") continue;
    const { scheme, name, quoted, plain = "", token68 } = part.exec(text)?.groups ?? {};
    if (scheme !== undefined)
      challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map(), token68 });
    const challenge = challenges.at(-1);
    if (scheme !== undefined && name === undefined) continue;
    if (name === undefined || challenge === undefined || challenge.token68 !== undefined) return [];
    const key = name.toLowerCase();
    const value = quoted?.replace(/\\([^])/g, "$1") ?? plain;
    if (!challenge.parameters.has(key)) challenge.parameters.set(key, value);
  }
  return challenges;
}
