import { optionError, OAuth2UsageError } from "../errors.ts";
import type { Params } from "../message/form.ts";
import { readSeconds } from "./expiry.ts";
import { checkRefreshParams, type RefreshParams } from "./refresh-params.ts";
import { snakeCase } from "../snake-case.ts";
import { checkSendMode, type SendModeOption } from "../message/send-mode.ts";

/** How a token is sent and when it counts as expired; other members are fields of the token. */
export interface TokenOptions {
  /** Seconds before its expiry from which the token counts as expired. Default: 0. */
  readonly expiresLatency?: number | string | null | undefined;
  /** Field that is the token. Default: the first of `access_token`, `id_token` and `token`. */
  readonly tokenName?: string | null | undefined;
  /** Where the token is sent. Default: `header`. */
  readonly mode?: SendModeOption | undefined;
  /** Value of `Authorization`, with `%s` for the token. Default: `Bearer %s`. */
  readonly headerFormat?: string | undefined;
  /** Name of the parameter in the query or form. Default: `access_token`. */
  readonly paramName?: string | undefined;
  /**
   * Parameters that each refresh sends, by their wire names. They are stored with the token.
   * Default: `scope`, `resource` and the caller's own parameters of the grant that the token is
   * from.
   */
  readonly refreshParams?: Params | undefined;
  /** A field of the token by its wire name, such as `refresh_token`, `expires_in` or `scope`. */
  readonly [field: string]: unknown;
}

/** Options of a token, complete. */
export interface TokenSettings {
  readonly expiresLatency: number;
  readonly tokenName: string | undefined;
  readonly mode: SendModeOption;
  readonly headerFormat: string;
  readonly paramName: string;
  readonly refreshParams: RefreshParams;
}

/** Names of the options, as given and as serialized. */
const wireNames: ReadonlyMap<string, string> = new Map([
  ["expiresLatency", "expires_latency"],
  ["tokenName", "token_name"],
  ["mode", "mode"],
  ["headerFormat", "header_format"],
  ["paramName", "param_name"],
  ["refreshParams", "refresh_params"],
]);

/** Names in a serialized token that are options, not fields. */
export const serializedOptions: readonly string[] = [...wireNames.values()];

/** Options of a token without any, checked once. */
export const defaultTokenOptions: TokenOptions = Object.freeze({});
const defaultSettings: TokenSettings = Object.freeze(checkTokenOptions(defaultTokenOptions));

/**
 * Splits what a caller gave into options and fields.
 *
 * @param fields where the fields are written to. Default: a new object.
 */
export function splitTokenOptions(
  given: TokenOptions,
  fields: Record<string, unknown> = {},
): {
  readonly settings: TokenSettings;
  readonly fields: Record<string, unknown>;
} {
  if (given === defaultTokenOptions) return { settings: defaultSettings, fields };
  for (const [name, value] of Object.entries(given)) {
    if (wireNames.has(name)) continue;
    checkField(name);
    fields[name] = value;
  }
  return { settings: checkTokenOptions(given), fields };
}

/** Fields have any name, except an option in another spelling, which would have no effect. */
function checkField(name: string): void {
  const plain = snakeCase(name);
  const meant = [...wireNames].find(([, wireName]) => wireName === plain)?.[0];
  if (meant === undefined) return;
  throw new OAuth2UsageError(
    "ERR_OAUTH_OPTION",
    `unknown token option ${JSON.stringify(name)}, did you mean "${meant}"?`,
  );
}

/** Takes the options out of a serialized token, under the names that options have. */
export function takeSerializedOptions(fields: Record<string, unknown>): TokenOptions {
  const options: Record<string, unknown> = {};
  for (const [name, wireName] of wireNames) {
    const value = fields[wireName];
    delete fields[wireName];
    if (value !== undefined && value !== null) options[name] = value;
  }
  return options;
}

/** Writes options under their wire names; a function cannot be written. */
export function serializeOptions(settings: TokenSettings): Record<string, unknown> {
  const { mode, headerFormat, paramName, tokenName, expiresLatency, refreshParams } = settings;
  return {
    ...(typeof mode === "function" ? {} : { mode }),
    header_format: headerFormat,
    param_name: paramName,
    ...(tokenName === undefined ? {} : { token_name: tokenName }),
    ...(expiresLatency === 0 ? {} : { expires_latency: expiresLatency }),
    ...(Object.keys(refreshParams).length === 0 ? {} : { refresh_params: refreshParams }),
  };
}

function checkTokenOptions(given: TokenOptions): TokenSettings {
  const { mode = "header", headerFormat = "Bearer %s", paramName = "access_token" } = given;
  checkSendMode(mode);
  if (typeof headerFormat !== "string" || headerFormat.split("%s").length !== 2) {
    throw optionError("headerFormat", headerFormat, 'text with one "%s"');
  }
  if (!/^[\t -~]*$/.test(headerFormat)) {
    throw optionError("headerFormat", "text with control or other characters", "printable ASCII");
  }
  if (typeof paramName !== "string" || paramName === "") {
    throw optionError("paramName", paramName, "the name of a parameter");
  }
  const tokenName = given.tokenName ?? undefined;
  if (tokenName !== undefined && typeof tokenName !== "string") {
    throw optionError("tokenName", tokenName, "the name of a field");
  }
  const refreshParams = checkRefreshParams(given.refreshParams ?? {});
  const expiresLatency = readLatency(given);
  return { mode, headerFormat, paramName, tokenName, expiresLatency, refreshParams };
}

function readLatency({ expiresLatency }: TokenOptions): number {
  if (expiresLatency === undefined || expiresLatency === null) return 0;
  const seconds = readSeconds(expiresLatency);
  if (seconds === undefined) throw optionError("expiresLatency", expiresLatency, "seconds");
  return seconds;
}

/** Returns the options that have a value. */
export function withoutUndefined(options: TokenOptions): TokenOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
