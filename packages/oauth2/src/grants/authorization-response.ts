import { BodyTooLargeError, constantTimeEqual, readBody } from "@fetchwork/kit";
import { redactText } from "../log/redact.ts";
import { AuthorizationResponseError } from "../errors.ts";

/** The parameters of a callback: those of the request's URL, or of the body of a `form_post`. */
export type CallbackInput = URL | URLSearchParams | Request | string;

/** Demands on a callback, so that it belongs to a transaction. */
export interface ExpectedAuthorizationResponse {
  readonly state: string;
  /** The issuer, when it is known; `iss` must be it (RFC 9207, 2.4). */
  readonly issuer?: string | undefined;
  /** Whether the server promises `iss` in each of its responses (RFC 9207, 3). */
  readonly requiresIssuer?: boolean | undefined;
}

/** Maximum size of the body of a `form_post`, in bytes. */
const maxBytes = 65_536;
const singles = ["code", "state", "iss", "error", "error_description", "error_uri", "response"];

/**
 * Reads the parameters of a callback. A POST is read as the form that `response_mode=form_post`
 * sends.
 *
 * @throws AuthorizationResponseError for a repeated parameter, or an invalid form body
 */
export async function readCallback(input: CallbackInput): Promise<URLSearchParams> {
  const parameters = await readParameters(input);
  const repeated = singles.find((name) => parameters.getAll(name).length > 1);
  if (repeated === undefined) return parameters;
  throw new AuthorizationResponseError(`the callback has ${repeated} more than once`);
}

/**
 * Checks that a callback belongs to a transaction, and returns its code. `iss` and `state` are
 * checked first, so that nobody else's error is believed.
 *
 * @throws AuthorizationResponseError
 */
export function validateAuthorizationResponse(
  parameters: URLSearchParams,
  { state, issuer, requiresIssuer = false }: ExpectedAuthorizationResponse,
): string {
  const value = (name: string): string | undefined => parameters.get(name) ?? undefined;
  if (value("response") !== undefined)
    throw new AuthorizationResponseError("the callback is a JWT response, which was not asked for");
  const iss = value("iss");
  if (issuer !== undefined && iss !== undefined && iss !== issuer) {
    const found = JSON.stringify(iss.slice(0, 200));
    throw new AuthorizationResponseError(`the callback must be of ${issuer}, got ${found}`);
  }
  if (requiresIssuer && iss === undefined)
    throw new AuthorizationResponseError("the callback has no iss, which this server always sends");
  const given = value("state");
  if (given === undefined) throw new AuthorizationResponseError("the callback has no state");
  if (!constantTimeEqual(given, state))
    throw new AuthorizationResponseError("the state of the callback does not match");
  const error = value("error");
  if (error !== undefined) throw refusal(parameters, error, state);
  // RFC 6749, 4.2.2: tokens in the URL were not requested, so they may be an injection.
  const foreign = ["access_token", "id_token", "token"].find((name) => parameters.has(name));
  if (foreign !== undefined)
    throw new AuthorizationResponseError(`the callback has ${foreign}, which was not asked for`);
  const code = value("code");
  if (code === undefined || code === "")
    throw new AuthorizationResponseError("the callback has no code");
  return code;
}

function refusal(
  parameters: URLSearchParams,
  error: string,
  state: string,
): AuthorizationResponseError {
  const description = parameters.get("error_description") ?? undefined;
  const uri = parameters.get("error_uri") ?? undefined;
  const known = [state, ...parameters.getAll("code")];
  const code = redactText(error, known);
  const message = description === undefined ? code : `${code}: ${redactText(description, known)}`;
  return new AuthorizationResponseError(message, { code, description, uri });
}

async function readParameters(input: CallbackInput): Promise<URLSearchParams> {
  if (input instanceof URLSearchParams) return input;
  if (input instanceof URL) return input.searchParams;
  if (typeof input === "string") {
    if (/^[a-z][a-z\d+.-]*:|^[/?]/i.test(input) && URL.canParse(input, "http://localhost"))
      return new URL(input, "http://localhost").searchParams;
    return new URLSearchParams(input);
  }
  if (input.method !== "POST") return new URL(input.url).searchParams;
  const type = input.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded" || input.bodyUsed)
    throw new AuthorizationResponseError(
      "the body of the callback is not a form or was already read",
    );
  return new URLSearchParams(await readText(input));
}

async function readText({ body }: Request): Promise<string> {
  try {
    return new TextDecoder().decode(await readBody(body, { limit: maxBytes }));
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    throw new AuthorizationResponseError(`the callback is longer than ${maxBytes} bytes`);
  }
}
