import { OAuth2Error, optionError, TokenUnavailableError, type ResponseData } from "../errors.ts";
import { readExpiry, unknownExpiry } from "./expiry.ts";
import type { Credential } from "../connection/follow-redirects.ts";
import type { RequestProof } from "../connection/proof.ts";
import { inspectAsJson } from "../inspect-as-json.ts";
import { parseForm } from "../message/parse-body.ts";
import {
  sendToResource,
  type ResourceRequestOptions,
  type ResourceSender,
} from "../connection/resource-request.ts";
import { errorOfFields, type OAuth2Response } from "../message/response.ts";
import { sendModeFor } from "../message/send-mode.ts";
import { allowedParams } from "./refresh-params.ts";
import {
  findToken,
  missingToken,
  readToken,
  takeField,
  textField,
  warnExtra,
  warnMissing,
} from "./token-fields.ts";
import { showTokenHash, writeTokenHash, type TokenHash } from "./token-hash.ts";
import {
  defaultTokenOptions,
  splitTokenOptions,
  takeSerializedOptions,
  withoutUndefined,
  type TokenOptions,
  type TokenSettings,
} from "./token-options.ts";
import {
  splitTokenParams,
  type RevokeParams,
  type TokenParams,
  type TokenTypeHint,
} from "./token-params.ts";

/** Client that a token needs; an `OAuth2Client` is one. */
export interface TokenClient extends ResourceSender {
  /** Identifier of the client. */
  readonly id: string | null;
  /** Base URL of the provider. */
  readonly site: string | undefined;
  /** Returns the time in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Proof of possession that every request carries. */
  readonly proof: RequestProof | undefined;
  /** Additions of a refresh to RFC 6749, 6. Default: none. */
  readonly refreshRules?: RefreshRules | undefined;
  /** Resolves a path or URL as requests do. */
  resolve(path: string | URL): URL;
  getToken(params: TokenParams, options?: TokenOptions): Promise<AccessToken>;
  revokeToken(
    token: string,
    hint?: TokenTypeHint | null,
    params?: TokenParams,
  ): Promise<OAuth2Response>;
  /** Writes a warning to the log. */
  warn(message: string): void;
}

/** Work at a refresh of a client that knows more of tokens. */
export interface RefreshRules {
  /** Fields that the new token takes from the previous one when the response lacks them. */
  readonly keptFields: readonly string[];
  /**
   * Checks the response to a refresh before anyone gets the new token.
   *
   * @param response the token of the response alone
   * @param completed the token that `refresh` returns: with what the response left out
   * @throws OAuth2Error when the response is not trustworthy
   */
  check(previous: AccessToken, response: AccessToken, completed: AccessToken): void;
}

/** Fields that every refreshed token keeps (RFC 6749, 6). */
const keptFields: readonly string[] = ["scope"];

/** Where a token comes from, for what only this package does. */
interface TokenOrigin {
  /** Fields of a response, none of them an option; the token takes over the object. */
  readonly fields?: Record<string, unknown> | undefined;
  readonly response?: ResponseData | undefined;
  readonly error?: OAuth2Error | undefined;
}

/**
 * A token: its value, when it expires, what came with it, and requests that carry it. Immutable;
 * `refresh` returns a new one. Shows no secret when it is inspected or written as JSON: {@link
 * AccessToken.toHash} is for storing.
 */
export class AccessToken {
  static {
    inspectAsJson(this.prototype);
  }

  readonly #client: TokenClient;
  readonly #token: string;
  readonly #refreshToken: string | undefined;
  readonly #params: Readonly<Record<string, unknown>>;
  readonly #settings: TokenSettings;
  readonly #origin: TokenOrigin;
  #isRestored = false;
  /** The stored expiry: {@link AccessToken.expiresAt}, or long ago if unreadable. */
  readonly #storedExpiry: number | undefined;
  /** Lifetime in seconds that the server gave; 0 counts as without end. */
  readonly expiresIn: number | undefined;
  /** When the token expires, in seconds since the epoch; `undefined` when unknown. */
  readonly expiresAt: number | undefined;

  /**
   * Makes a token of its value.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION`; InvalidResponseError when a value is malformed, or
   * there is neither a value nor a refresh token, unless `raiseErrors` is false
   */
  constructor(
    client: TokenClient,
    token: string | null,
    options: TokenOptions = defaultTokenOptions,
    origin: TokenOrigin = {},
  ) {
    const { settings, fields } = splitTokenOptions(options, origin.fields);
    this.#client = client;
    this.#token = readToken(token, "access_token");
    this.#settings = settings;
    this.#origin = origin;
    const refreshToken = takeField(fields, "refresh_token", "refreshToken");
    this.#refreshToken = readToken(refreshToken, "refresh_token") || undefined;
    const isMissing = !this.#token && !this.#refreshToken && !origin.error;
    if (isMissing && client.raiseErrors) throw missingToken(settings.tokenName, undefined);
    const { expiresIn, expiresAt, isUnknown } = readExpiry(
      takeField(fields, "expires_at", "expiresAt"),
      takeField(fields, "expires_in", "expiresIn") ?? takeField(fields, "expires"),
      Math.floor(client.clock() / 1000),
    );
    this.expiresIn = expiresIn;
    this.expiresAt = expiresAt;
    this.#storedExpiry = isUnknown ? unknownExpiry : expiresAt;
    this.#params = Object.freeze(fields);
  }

  /**
   * Makes a token from an object, such as that of {@link AccessToken.toHash}, also after JSON.
   * Options in the object apply, so it must not be one that a server sent: for these there is
   * `getToken` of the client. With `raiseErrors: false` what is wrong with the object is the
   * `error` of a token without a value.
   *
   * @throws InvalidResponseError when there is no token and no refresh token
   */
  static fromHash(
    client: TokenClient,
    hash: Readonly<Record<string, unknown>>,
    options: TokenOptions = {},
  ): AccessToken {
    const fields: Record<string, unknown> = { ...hash };
    const stored = takeSerializedOptions(fields);
    const { tokenName } = stored;
    // `toHash` writes the token as `access_token`, whatever field it was in.
    if (typeof tokenName === "string" && !Object.hasOwn(fields, tokenName)) {
      fields[tokenName] = takeField(fields, "access_token");
    }
    return orFailed(client, () => {
      const merged = { ...stored, ...withoutUndefined(options) };
      const token = AccessToken.fromFields(client, fields, merged);
      token.#isRestored = true;
      return token;
    });
  }

  /**
   * Makes a token of a form, such as the fragment of the implicit grant's callback (RFC 6749,
   * 4.2.2). One leading `#` or `?` is dropped. Nothing in the form is an option. With
   * `raiseErrors: false` a fault of the form is the `error` of a token without a value.
   *
   * @throws OAuth2Error when the form has an `error`; InvalidResponseError when it has no token, or
   * two
   */
  static fromKvform(client: TokenClient, form: string, options: TokenOptions = {}): AccessToken {
    const fields = parseForm(form.replace(/^[#?]/, ""));
    return orFailed(client, () => {
      if (typeof fields["error"] === "string") throw errorOfFields(fields);
      return AccessToken.fromFields(client, fields, options);
    });
  }

  /**
   * Makes a token from the fields of a response. None of them is an option.
   *
   * @throws InvalidResponseError when there is no token and no refresh token, unless `raiseErrors`
   * is false and nothing responded
   */
  static fromFields(
    client: TokenClient,
    given: Readonly<Record<string, unknown>>,
    options: TokenOptions = defaultTokenOptions,
    response?: ResponseData,
  ): AccessToken {
    const tokenName = options.tokenName ?? undefined;
    const { field, token, candidates } = findToken(given, tokenName);
    const fields = { ...given };
    if (field !== undefined) delete fields[field];
    warnExtra(client, candidates, field);
    if (token === "" && !fields["refresh_token"] && !fields["refreshToken"]) {
      warnMissing(client, Object.keys(given), tokenName);
      const error = missingToken(tokenName, response);
      if (client.raiseErrors || response) throw error;
      return new AccessToken(client, null, options, { error, fields });
    }
    return new AccessToken(client, token, options, { fields, response });
  }

  /** Makes what stands for a token where `raiseErrors` is false and there is none. */
  static failed(client: TokenClient, error: OAuth2Error): AccessToken {
    return new AccessToken(client, null, {}, { error, response: error.response });
  }

  /** The value; empty when there is only a refresh token, or none at all. */
  get token(): string {
    return this.#token;
  }

  /** The refresh token; `undefined` without one. */
  get refreshToken(): string | undefined {
    return this.#refreshToken;
  }

  /** Fields of the token by wire name: `token_type`, `scope`, `id_token`, others. */
  get params(): Readonly<Record<string, unknown>> {
    return this.#params;
  }

  /** Type of the token as the server named it, such as `Bearer`. */
  get tokenType(): string | undefined {
    return textField(this.#params["token_type"]);
  }

  /** Scopes, separated by spaces. */
  get scope(): string | undefined {
    return textField(this.#params["scope"]);
  }

  /** The ID token that came with it, not verified here. */
  get idToken(): string | undefined {
    return textField(this.#params["id_token"]);
  }

  /** The client that the token belongs to. */
  get client(): TokenClient {
    return this.#client;
  }

  /** How the token is sent. */
  get options(): TokenSettings {
    return this.#settings;
  }

  /** The response that contained the token. */
  get response(): ResponseData | undefined {
    return this.#origin.response;
  }

  /** Why there is no token, where `raiseErrors` is false. */
  get error(): OAuth2Error | undefined {
    return this.#origin.error;
  }

  /**
   * Whether the token comes from a store, or was refreshed from such a one: its ID token was
   * validated when it came.
   *
   * @internal
   */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** Whether the token has an expiry. */
  expires(): boolean {
    return this.#storedExpiry !== undefined;
  }

  /**
   * Whether the token has expired, or will within `expiresLatency`. A token that is unreadable
   * about its expiry has, and one without a value.
   *
   * @param at - Seconds since the epoch. Default: now.
   */
  expired(at: number = this.#client.clock() / 1000): boolean {
    if (this.#token === "") return true;
    if (this.#storedExpiry === undefined) return false;
    return this.#storedExpiry - this.#settings.expiresLatency <= at;
  }

  /**
   * Asks for a new token (RFC 6749, 6), with the parameters that the token keeps for it
   * (`refreshParams`); those given here override them and stay with the new token. A kept scope
   * that the server did not grant in full is not sent. The new token keeps the options, and the
   * refresh token and scope where the response has none.
   *
   * @throws TokenUnavailableError when there is no refresh token; what `getToken` of the client
   * throws
   */
  async refresh(params: TokenParams = {}, options: TokenOptions = {}): Promise<AccessToken> {
    if (this.#refreshToken === undefined) {
      throw new TokenUnavailableError("the token has no refresh token");
    }
    const { refreshParams } = this.#settings;
    const kept = { ...refreshParams, ...splitTokenParams(params).params };
    const sent = { ...allowedParams(refreshParams, this.scope), ...params };
    const fresh = await this.#client.getToken(
      { ...sent, grant_type: "refresh_token", refresh_token: this.#refreshToken },
      { ...this.#settings, refreshParams: kept, ...withoutUndefined(options) },
    );
    if (fresh.error !== undefined) return fresh;
    const completed = this.#completed(fresh);
    this.#client.refreshRules?.check(this, fresh, completed);
    return completed;
  }

  /**
   * Revokes the token, or its refresh token (RFC 7009); a token without a value is revoked by its
   * refresh token.
   *
   * @throws TokenUnavailableError when there is nothing to revoke; OAuth2Error when the server
   * refuses
   */
  async revoke(params: RevokeParams = {}): Promise<OAuth2Response> {
    const { token_type_hint: hint, ...rest } = params;
    const kind = hint ?? (this.#token === "" ? "refresh_token" : "access_token");
    if (kind !== "access_token" && kind !== "refresh_token") {
      throw optionError("token_type_hint", kind, "access_token or refresh_token");
    }
    const value = kind === "access_token" ? this.#token : (this.#refreshToken ?? "");
    if (value === "") {
      throw new TokenUnavailableError(`the token has no ${hint ?? "value"} to revoke`);
    }
    return this.#client.revokeToken(value, kind, rest);
  }

  /**
   * Sends a request that carries the token.
   *
   * @throws OAuth2Error with a status of 400 or more, unless `raiseErrors` is false;
   * TokenUnavailableError when there is nothing to send
   */
  async request(
    verb: string,
    path: string | URL,
    options: ResourceRequestOptions = {},
  ): Promise<OAuth2Response> {
    const url = this.#client.resolve(path);
    const credential = this.credential(verb.toLowerCase());
    return sendToResource(this.#client, { verb, url, credential }, options);
  }

  /** Sends a GET request. */
  get(path: string | URL, options?: ResourceRequestOptions): Promise<OAuth2Response> {
    return this.request("get", path, options);
  }

  /** Sends a POST request. */
  post(path: string | URL, options?: ResourceRequestOptions): Promise<OAuth2Response> {
    return this.request("post", path, options);
  }

  /** Sends a PUT request. */
  put(path: string | URL, options?: ResourceRequestOptions): Promise<OAuth2Response> {
    return this.request("put", path, options);
  }

  /** Sends a PATCH request. */
  patch(path: string | URL, options?: ResourceRequestOptions): Promise<OAuth2Response> {
    return this.request("patch", path, options);
  }

  /** Sends a DELETE request. */
  delete(path: string | URL, options?: ResourceRequestOptions): Promise<OAuth2Response> {
    return this.request("delete", path, options);
  }

  /**
   * Returns the value of `Authorization`.
   *
   * @throws TokenUnavailableError when there is no token, or one that needs a proof that the client
   * cannot make
   */
  authorization(): string {
    if (this.#token === "") {
      throw new TokenUnavailableError("the token has no value to send", { cause: this.error });
    }
    const needsProof = this.tokenType?.toLowerCase() === "dpop";
    if (!needsProof) return this.#settings.headerFormat.replace("%s", () => this.#token);
    if (this.#client.proof !== undefined) return `DPoP ${this.#token}`;
    throw new TokenUnavailableError(
      "the token is bound to a key (DPoP), and the client has no dpop option",
    );
  }

  /**
   * Returns how the token is sent with a verb, in lower case.
   *
   * @throws TokenUnavailableError as {@link AccessToken.authorization}
   * @internal
   */
  credential(verb: string): Credential {
    const { mode, paramName } = this.#settings;
    return {
      authorization: this.authorization(),
      token: this.#token,
      mode: sendModeFor(mode, verb),
      paramName,
      proof: this.tokenType?.toLowerCase() === "dpop" ? this.#client.proof : undefined,
    };
  }

  /** Returns the token with its options as plain values to be stored, without a `mode` function. */
  toHash(): TokenHash {
    const { token, refreshToken, params, options } = this;
    return writeTokenHash({ token, refreshToken, params, options, expiresAt: this.#storedExpiry });
  }

  /** Returns a description without secrets. */
  toJSON(): unknown {
    return showTokenHash(this.toHash());
  }

  /** Adds what the response to a refresh left out. */
  #completed(fresh: AccessToken): AccessToken {
    const names = this.#client.refreshRules?.keptFields ?? keptFields;
    const kept = names.filter(
      (name) => fresh.params[name] === undefined && this.#params[name] !== undefined,
    );
    if (fresh.refreshToken !== undefined && kept.length === 0) return fresh;
    const fields = {
      ...fresh.params,
      ...Object.fromEntries(kept.map((name) => [name, this.#params[name]])),
      refresh_token: fresh.refreshToken ?? this.#refreshToken,
      expires_in: fresh.expiresIn,
      expires_at: fresh.#storedExpiry,
    };
    const origin = { fields, response: fresh.response };
    const completed = new AccessToken(this.#client, fresh.token, { ...fresh.options }, origin);
    completed.#isRestored = this.#isRestored;
    return completed;
  }
}

/** With `raiseErrors: false` an error is part of what stands for the token. */
function orFailed(client: TokenClient, make: () => AccessToken): AccessToken {
  try {
    return make();
  } catch (error) {
    if (client.raiseErrors || !(error instanceof OAuth2Error)) throw error;
    return AccessToken.failed(client, error);
  }
}
