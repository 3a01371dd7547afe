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

const token = /[!#$%&'*+\-.^_`|~\dA-Za-z]+/y;
const blanks = /[ \t]*/y;
const separators = /[ \t,]*/y;
const equals = /[ \t]*=[ \t]*/y;
const quoted = /"((?:[^"\\]|\\[^])*)"/y;
const plain = /[A-Za-z\d\-._~+/]+=*(?=[ \t]*(?:,|$))/y;

/**
 * Reads the challenges of a `WWW-Authenticate` field, several fields joined with commas included.
 *
 * @returns `[]` when there is none, or when the field is malformed or longer than 16 KiB
 */
export function parseChallenges(field: string | null | undefined): readonly Challenge[] {
  if (field === null || field === undefined || field.length > maxLength) return [];
  const cursor = new Cursor(field);
  const challenges: Challenge[] = [];
  cursor.take(separators);
  while (!cursor.isAtEnd()) {
    const challenge = readChallenge(cursor);
    if (challenge === undefined) return [];
    challenges.push(challenge);
  }
  return challenges;
}

function readChallenge(cursor: Cursor): Challenge | undefined {
  const scheme = cursor.take(token)?.[0].toLowerCase();
  if (scheme === undefined) return undefined;
  const parameters = new Map<string, string>();
  const blank = cursor.take(blanks)?.[0] ?? "";
  const token68 = blank === "" ? undefined : cursor.take(plain)?.[0];
  if (token68 !== undefined) {
    cursor.take(separators);
    return { scheme, parameters, token68 };
  }
  if (blank === "" && !cursor.isAtEnd() && !cursor.startsWith(",")) return undefined;
  let isSeparated = cursor.isAtEnd() || cursor.startsWith(",");
  cursor.take(separators);
  for (;;) {
    const parameter = readParameter(cursor);
    if (parameter === undefined) break;
    const [name, value] = parameter;
    if (!parameters.has(name)) parameters.set(name, value);
    cursor.take(blanks);
    isSeparated = cursor.isAtEnd() || cursor.startsWith(",");
    if (!isSeparated) return undefined;
    cursor.take(separators);
  }
  return isSeparated ? { scheme, parameters } : undefined;
}

/** Reads `name=value`; else leaves the cursor, since the next challenge may begin there. */
function readParameter(cursor: Cursor): readonly [name: string, value: string] | undefined {
  const start = cursor.position;
  const name = cursor.take(token)?.[0].toLowerCase();
  if (name !== undefined && cursor.take(equals) !== undefined) {
    const text = cursor.take(quoted)?.[1]?.replace(/\\([^])/g, "$1") ?? cursor.take(token)?.[0];
    if (text !== undefined) return [name, text];
  }
  cursor.position = start;
  return undefined;
}

class Cursor {
  position = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.position >= this.#text.length;
  }

  startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.position);
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.position = pattern.lastIndex;
    return match;
  }
}
