import { optionError } from "../../errors.ts";
import { withScopeAsText, type GrantParams } from "../../message/form.ts";
import { signJwt, type SigningKey } from "../../credentials/sign-jwt.ts";
import { isJsonRecord } from "../../json-record.ts";
import { randomValue } from "../../grants/pkce.ts";
import { checkNames, optionsOf } from "../../option-names.ts";

const requestObjectOptions = optionsOf<RequestObjectOptions>("signRequestObject", {
  clientId: true,
  audience: true,
  key: true,
  algorithm: true,
  kid: true,
  lifetime: true,
  now: true,
});

/** Options of {@link signRequestObject}. */
export interface RequestObjectOptions {
  /** Our client identifier: `iss` and `client_id` of the request object. */
  readonly clientId: string;
  /** The server's issuer: `aud` of the request object. */
  readonly audience: string;
  /** Private key, or the client secret for `HS256`. */
  readonly key: SigningKey;
  /** Signature algorithm. Default: that of the key. */
  readonly algorithm?: string | undefined;
  /** Identifier of the key. Default: that of the JWK. */
  readonly kid?: string | undefined;
  /** How long it can be used, in seconds. Default: `60`. */
  readonly lifetime?: number | undefined;
  /** Now, in seconds since 1970. Default: the clock. */
  readonly now?: number | undefined;
}

/**
 * Signs the parameters of an authorization request as a request object (RFC 9101), for the parameter `request`.
 * `max_age` becomes a number, `claims` and `authorization_details` in JSON become parsed values.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for a key or parameters that cannot be used
 */
export async function signRequestObject(
  params: GrantParams,
  options: RequestObjectOptions,
): Promise<string> {
  checkNames(options, requestObjectOptions);
  const { clientId, audience, key, algorithm, kid, lifetime = 60 } = options;
  const { now = Math.floor(Date.now() / 1000) } = options;
  if (!(lifetime > 0)) throw optionError("lifetime", lifetime, "seconds above 0");
  // RFC 9101, 4: they must not be within.
  const nested = ["request", "request_uri"].find((name) => params[name] !== undefined);
  if (nested !== undefined) throw optionError(nested, "given", "no request inside a request");
  const given = Object.entries(withScopeAsText(params)).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const claims = {
    ...Object.fromEntries(given.map(([name, value]) => [name, claimValue(name, value)])),
    client_id: clientId,
    iss: clientId,
    aud: audience,
    jti: randomValue(),
    iat: now,
    nbf: now,
    exp: now + lifetime,
  };
  return signJwt(claims, key, { algorithm, kid, typ: "oauth-authz-req+jwt" });
}

function claimValue(name: string, value: unknown): unknown {
  switch (name) {
    case "max_age": {
      const seconds = Number(value);
      if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds;
      throw optionError(name, value, "seconds, at least 0");
    }
    case "claims":
    case "authorization_details": {
      const parsed = typeof value === "string" ? parse(name, value) : value;
      const isRight = name === "claims" ? isJsonRecord(parsed) : Array.isArray(parsed);
      if (isRight) return parsed;
      throw optionError(name, typeof value, name === "claims" ? "an object" : "a list");
    }
    case "resource":
      return value;
    default:
      return typeof value === "number" ? String(value) : value;
  }
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw optionError(name, "text", "JSON");
  }
}
