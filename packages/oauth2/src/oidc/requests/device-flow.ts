import { parseRetryAfter, pause } from "@fetchwork/kit";
import type { AccessToken } from "../../token/access-token.ts";
import {
  OAuth2ConnectionError,
  InvalidResponseError,
  OAuth2Error,
  optionError,
} from "../../errors.ts";
import { toPairs, withScopeAsText, type GrantParams } from "../../message/form.ts";
import { isTemporary } from "../../manager/token-pause.ts";
import { keptParams } from "../../token/refresh-params.ts";
import { splitTokenParams, type TokenParams } from "../../token/token-params.ts";
import {
  callEndpoint,
  jsonOf,
  type EndpointCallOptions,
  type ProviderClient,
} from "../provider-endpoint.ts";
import { hideFromInspect } from "../../inspect-as-json.ts";
import { checkOptions } from "../../check-options.ts";

/** A sign-in on another device that has started (RFC 8628, 3.2): plain values, ready for JSON. */
export interface DeviceAuthorization {
  /** Secret; stands for the sign-in at the token endpoint. */
  readonly deviceCode: string;
  /** Code that the user types. */
  readonly userCode: string;
  /** Where the user goes. `http` or `https`. */
  readonly verificationUri: string;
  /** The same with the user code in it, for a QR code. */
  readonly verificationUriComplete?: string | undefined;
  /** Resources that the token is for (RFC 8707). */
  readonly resource?: readonly string[] | undefined;
  /** Scope that was asked for, separated by spaces. */
  readonly scope?: string | undefined;
  /** When the user must have finished, in seconds since 1970. */
  readonly expiresAt: number;
  /** Minimum time between two polls, in seconds. */
  readonly interval: number;
}

/** Options of {@link DeviceFlow.poll}. */
export interface PollOptions {
  /** Stops waiting. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Further parameters of the token request. Default: none. */
  readonly params?: TokenParams | undefined;
  /** Waits, and rejects when the signal is aborted. Default: a timer. */
  readonly wait?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

const grantType = "urn:ietf:params:oauth:grant-type:device_code";
const what = "the device authorization";
/** Longest wait that is believed, in seconds. */
const maxInterval = 3600;

/** The device authorization grant (RFC 8628), for devices without a browser or a keyboard. */
export class DeviceFlow {
  readonly #client: ProviderClient;

  constructor(client: ProviderClient) {
    this.#client = client;
  }

  /**
   * Starts a sign-in. Show the user `verificationUri` and `userCode`, then {@link DeviceFlow.poll}.
   *
   * @param params parameters of the request, such as `scope` and `resource`
   * @throws MetadataError when the server has no such endpoint; OAuth2Error when it refuses
   * @throws InvalidResponseError for a response that is incomplete or could mislead the user
   */
  async start(
    params: GrantParams = {},
    options?: EndpointCallOptions,
  ): Promise<DeviceAuthorization> {
    checkOptions("device.start", options, ["signal"]);
    const client = this.#client;
    const request = { ...params, client_id: client.id };
    const name = "device_authorization_endpoint";
    const response = await callEndpoint(client, name, request, options);
    const json = jsonOf(response, what);
    const fail = (member: string): InvalidResponseError =>
      new InvalidResponseError(`${what} has no usable ${member}`, { response });
    const text = (member: string): string => {
      const value = json[member];
      // The user sees it, often in a terminal: no control characters, nothing that turns text
      // around.
      if (typeof value === "string" && /^[^\p{Cc}\p{Cf}]{1,2048}$/u.test(value)) return value;
      throw fail(member);
    };
    const link = (member: string): string => {
      const value = text(member);
      if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
      throw fail(member);
    };
    const { expires_in: expiresIn, interval = 5 } = json;
    if (typeof expiresIn !== "number" || !(expiresIn > 0)) throw fail("expires_in");
    if (typeof interval !== "number" || !(interval >= 0)) throw fail("interval");
    const sent = toPairs(withScopeAsText(params));
    const sentAs = (name: string): readonly string[] | undefined => {
      const values = sent.filter(([key]) => key === name).map(([, value]) => value);
      return values.length === 0 ? undefined : values;
    };
    const authorization: DeviceAuthorization = {
      deviceCode: text("device_code"),
      userCode: text("user_code"),
      verificationUri: link("verification_uri"),
      verificationUriComplete:
        json["verification_uri_complete"] === undefined
          ? undefined
          : link("verification_uri_complete"),
      resource: sentAs("resource"),
      scope: sentAs("scope")?.join(" "),
      expiresAt: Math.floor(client.clock() / 1000 + expiresIn),
      // A server that names none, or 0, must not be flooded all the same.
      interval: Math.min(Math.max(interval, 1), maxInterval),
    };
    return hideFromInspect(authorization, "deviceCode");
  }

  /**
   * Waits until the user has finished and returns the token. Polls every `interval` seconds; five
   * seconds less often after each `slow_down` and each error page of a proxy. Each time the server
   * cannot be reached it asks half as often (RFC 8628, 3.5).
   *
   * @throws OAuth2Error `access_denied` when the user refused, `expired_token` when the time is
   * over
   * @throws the reason of the signal when that is aborted
   */
  async poll(authorization: DeviceAuthorization, options: PollOptions = {}): Promise<AccessToken> {
    checkOptions("device.poll", options, ["signal", "params", "wait"]);
    const { signal, params, wait = pause } = options;
    const { deviceCode, expiresAt, resource, scope } = authorization;
    let { interval } = authorization;
    if (typeof deviceCode !== "string" || !(interval > 0) || typeof expiresAt !== "number")
      throw optionError(
        "the device authorization",
        typeof authorization,
        "the result of device.start",
      );
    const own = { resource, ...params };
    const refreshParams = keptParams({ scope, ...splitTokenParams(own).params });
    const request = { ...own, grant_type: grantType, device_code: deviceCode };
    for (;;) {
      signal?.throwIfAborted();
      if (this.#client.clock() / 1000 + interval > expiresAt)
        throw new OAuth2Error("expired_token: the user did not finish in time", {
          code: "expired_token",
        });
      await wait(interval * 1000, signal);
      try {
        const sending = { ...request, signal, raiseErrors: true };
        return await this.#client.getToken(sending, { refreshParams });
      } catch (error) {
        signal?.throwIfAborted();
        interval = nextInterval(error, interval, this.#client.clock());
      }
    }
  }
}

/** How long to wait after a failed question, in seconds; throws what waiting does not mend. */
function nextInterval(error: unknown, interval: number, now: number): number {
  if (error instanceof OAuth2ConnectionError) return Math.min(interval * 2, maxInterval);
  if (!(error instanceof OAuth2Error)) throw error;
  switch (error.code) {
    case "authorization_pending":
      return interval;
    case "slow_down":
      return Math.min(interval + 5, maxInterval);
    default:
      break;
  }
  const { status, response } = error;
  // An error that is named ends it (RFC 8628, 3.5); the page of a proxy has no name.
  const isPassing = error.code === undefined && isTemporary(error);
  if (status !== 429 && status !== 503 && !isPassing) throw error;
  const asked = parseRetryAfter(response?.headers.get("retry-after") ?? "", now);
  const seconds = asked === undefined ? interval + 5 : Math.ceil(asked / 1000);
  return Math.min(Math.max(seconds, interval), maxInterval);
}
