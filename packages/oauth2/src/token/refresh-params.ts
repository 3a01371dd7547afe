import { isSecretParameter } from "@fetchwork/kit";
import { optionError } from "../errors.ts";
import { toPairs, withScopeAsText, type Params } from "../message/form.ts";
import { isFilteredKey } from "../log/redact.ts";

/** Parameters that each refresh of a token sends, by wire name: plain values for JSON. */
export type RefreshParams = Readonly<Record<string, string | readonly string[]>>;

/** Parameters that belong to one request, or to the authentication of the client. */
const ofOneRequest: ReadonlySet<string> = new Set([
  "actor_token",
  "actor_token_type",
  "assertion",
  "auth_req_id",
  "client_assertion",
  "client_assertion_type",
  "client_id",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "grant_type",
  "nonce",
  "password",
  "redirect_uri",
  "refresh_token",
  "requested_token_type",
  "state",
  "subject_token",
  "subject_token_type",
  "username",
]);

/**
 * Selects the parameters of a grant that its token keeps for each refresh: `scope`, `resource` (RFC
 * 8707) and those of the caller's own, such as `audience`. Not what proves something, and nothing
 * with the name of a secret.
 */
export function keptParams(params: Params): RefreshParams {
  const kept = new Map<string, string | string[]>();
  for (const [name, value] of toPairs(withScopeAsText(params))) {
    if (ofOneRequest.has(name) || isFilteredKey(name) || isSecretParameter(name)) continue;
    const before = kept.get(name);
    if (before === undefined) kept.set(name, value);
    else if (typeof before === "string") kept.set(name, [before, value]);
    else before.push(value);
  }
  return Object.freeze(Object.fromEntries(kept));
}

/**
 * The kept parameters that a refresh may send. A scope that the server did not grant in full is
 * left out: to ask for it again is an error, and to ask for none keeps what was granted (RFC 6749,
 * 6).
 */
export function allowedParams(kept: RefreshParams, granted: string | undefined): RefreshParams {
  const { scope, ...rest } = kept;
  if (typeof scope !== "string" || granted === undefined) return kept;
  const scopes = new Set(granted.split(/[\s,]+/));
  return scope.split(" ").every((one) => one === "" || scopes.has(one)) ? kept : rest;
}

/**
 * Checks refresh parameters from a caller or a store.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkRefreshParams(given: unknown): RefreshParams {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw optionError("refreshParams", typeof given, "an object with parameters");
  }
  return keptParams(Object.fromEntries<unknown>(Object.entries(given)));
}
