import { InvalidResponseError, type ResponseData } from "../errors.ts";
import { processSettings } from "../process-settings.ts";
import { snakeCase } from "../snake-case.ts";

/** Fields that may hold the token, in the order in which they count. */
const tokenFields = ["access_token", "id_token", "token", "accessToken", "idToken"];

/** Result of {@link findToken}. */
export interface FoundToken {
  /** Field that holds the token; `undefined` when there is none. */
  readonly field: string | undefined;
  readonly token: string;
  /** All fields that may hold a token. */
  readonly candidates: readonly string[];
}

/**
 * Finds the token among fields: under `name` if that is given (as it is, or in snake case). Else it
 * is the first of the default names that is present, even when it is empty.
 */
export function findToken(
  fields: Readonly<Record<string, unknown>>,
  name: string | undefined,
): FoundToken {
  const candidates = tokenFields.filter((field) => Object.hasOwn(fields, field));
  const wanted = name === undefined ? candidates : [name, snakeCase(name)];
  const field = wanted.find((key) => Object.hasOwn(fields, key));
  const token = field === undefined ? "" : readToken(fields[field], field);
  return { field, token, candidates };
}

/**
 * Reads a field that is a token. Numbers are text of theirs; a missing one is empty.
 *
 * @throws InvalidResponseError when it is a list or object, or has characters that a token cannot
 * have (RFC 6749, A.12): they would forge headers
 */
export function readToken(value: unknown, field: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") {
    throw new InvalidResponseError(`the field ${JSON.stringify(field)} is not text`);
  }
  if (!/^[ -~]*$/.test(value)) {
    throw new InvalidResponseError(
      `the field ${JSON.stringify(field)} has characters that a token cannot have (RFC 6749, A.12)`,
    );
  }
  return value;
}

/** Takes a field by one of its names out of a copy of fields. */
export function takeField(fields: Record<string, unknown>, ...names: readonly string[]): unknown {
  let found: unknown;
  for (const name of names) {
    if (!Object.hasOwn(fields, name)) continue;
    found ??= fields[name];
    delete fields[name];
  }
  return found;
}

/** Receiver of a warning. */
interface WarningSink {
  warn(message: string): void;
}

/** Warns, unless that is silenced, that a response has several fields that may be the token. */
export function warnExtra(
  client: WarningSink,
  found: readonly string[],
  used: string | undefined,
): void {
  if (processSettings().silenceExtraTokensWarning || found.length < 2) return;
  client.warn(
    `OAuth2: the response has several fields that may be the token (${found.join(", ")}); ${used ?? "none"} is used, tokenName chooses another`,
  );
}

/** Warns, unless silenced, that a response has no token. Shows names of fields, never values. */
export function warnMissing(
  client: WarningSink,
  names: readonly string[],
  tokenName: string | undefined,
): void {
  if (processSettings().silenceNoTokensWarning) return;
  const sought = tokenName === undefined ? "no token" : `no field ${JSON.stringify(tokenName)}`;
  const hint = tokenName === undefined ? "" : "; keys became snake case unless snaky is false";
  client.warn(`OAuth2: the response has ${sought} among ${JSON.stringify(names)}${hint}`);
}

/** Returns a field if it is text. */
export function textField(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Makes the error of a response without a token. */
export function missingToken(
  tokenName: string | undefined,
  response: ResponseData | undefined,
): InvalidResponseError {
  const place = tokenName === undefined ? "" : ` in the field ${JSON.stringify(tokenName)}`;
  return new InvalidResponseError(`the response has no token${place}`, { response });
}
