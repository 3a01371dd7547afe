import { checkOptions } from "../check-options.ts";
import { HttpUsageError } from "../errors.ts";
import { buildWith, type RequestObject } from "./request/build-request-object.ts";
import { passOn } from "../message/pass-on.ts";
import { startOfBody } from "./response/response-body.ts";
import { eachItem, paginationOf, type ItemOf, type PaginateOptions } from "./paginate.ts";
import { perform, type Performed } from "./perform.ts";
import { ResponseError } from "./response/response-error.ts";
import type { EndpointRequest, RestRequest } from "./request/rest-request.ts";
import { RestResponse } from "./response/rest-response.ts";
import { optionError } from "../option-values.ts";
import { defaultMaxResponseSize, policyNames, type SendOptions } from "./send-options.ts";
import {
  defaultSettings,
  extendSettings,
  withPolicy,
  type ClientSettings,
  type Settings,
} from "./settings.ts";
import { StreamResponse } from "./response/stream-response.ts";
import { TransportSource } from "./transport/transport-source.ts";
import { transportRequest } from "./transport-request.ts";
import type { StreamedResponse, Transport, WholeResponse } from "./transport/transport.ts";

/** Options of a {@link Client}. */
export interface ClientOptions extends ClientSettings {
  /** Carries the requests; its maker closes it. Default: undici on Node, else `fetch`. */
  readonly transport?: Transport | undefined;
}

/** Result of `trySend`: one of the two, or both for a `ResponseError`. */
export interface SendResult {
  /** The response of any status; absent when there is an error. */
  readonly response?: RestResponse | undefined;
  /** Why there is no response; absent when there is one. */
  readonly error?: Error | undefined;
}

const noOptions: SendOptions = Object.freeze({});

/**
 * Sends requests with common defaults over common connections.
 *
 * @example
 * ```ts
 * const api = new Client({ baseUrl: "https://api.example.com/v1", retry: 2, timeout: 10_000 });
 * const { statusCode, body } = await api.send({ baseUrl: "/users", queryParams: { page: 2 } });
 * ```
 */
export class Client implements AsyncDisposable {
  #settings: Settings;
  #source: TransportSource;

  /** @throws HttpUsageError `ERR_HTTP_OPTION`, `ERR_HTTP_HEADER` or `ERR_HTTP_URL` */
  constructor(options: ClientOptions = {}) {
    this.#settings = extendSettings(defaultSettings, options);
    this.#source = new TransportSource(options.transport);
  }

  /**
   * Sends a request and reads its response whole. A status of 400 or more is a response like any
   * other, unless `throwOnStatus` is set.
   *
   * @throws TransportError as a rejection, when there is no complete response
   * @throws HttpUsageError as a rejection, when the request or an option is wrong
   */
  send(request: RestRequest | EndpointRequest, options?: SendOptions): Promise<RestResponse> {
    const settings = this.#settings;
    const transport = this.#source.current;
    try {
      if (
        options !== undefined ||
        transport === undefined ||
        !settings.isPlain ||
        ("request" in request && request.request !== undefined)
      ) {
        return this.#sendWith(request, options);
      }
      const built = buildWith(request, settings);
      const exchange = transportRequest(built, plainLimits(settings));
      return transport
        .exchange(exchange)
        .then((response) =>
          response.status < 300 || (response.status >= 400 && !settings.throwOnStatus)
            ? new RestResponse(response)
            : this.#finish(built, settings, response),
        );
    } catch (error) {
      return Promise.reject(asError(error));
    }
  }

  /** The same without rejecting: the error is a part of the result. */
  async trySend(
    request: RestRequest | EndpointRequest,
    options?: SendOptions,
  ): Promise<SendResult> {
    try {
      return { response: await this.send(request, options) };
    } catch (error) {
      if (error instanceof ResponseError) return { response: error.response, error };
      return { error: asError(error) };
    }
  }

  /**
   * Sends a request and resolves with the head of its response; the body arrives as it is read.
   *
   * @throws TransportError as a rejection, or from the stream when the body breaks off
   * @throws HttpUsageError as a rejection, when the request or an option is wrong
   */
  async stream(
    request: RestRequest | EndpointRequest,
    options?: SendOptions,
  ): Promise<StreamResponse> {
    const { built, settings, given } = this.#prepare(request, options);
    const transport = this.#source.current ?? (await this.#source.load());
    const performed = await perform<StreamedResponse>({
      settings,
      request: built,
      options: given,
      maxResponseSize: settings.maxResponseSize ?? Number.POSITIVE_INFINITY,
      run: (exchange) => transport.stream(exchange),
      discard: ({ body }) => void body.cancel().catch(ignore),
    });
    const response = withDeadline(performed);
    if (!settings.throwOnStatus || response.status < 400) return new StreamResponse(response);
    const whole = new RestResponse({ ...response, body: await startOfBody(response.body) });
    throw new ResponseError(whole, performed.request);
  }

  /**
   * Sends a request and, as the items are taken, the requests of the pages after it. A page that is
   * not a success is a `ResponseError`, whatever `throwOnStatus` says; a page that leads to one
   * that was read ends the list.
   *
   * @example
   * ```ts
   * for await (const repo of api.paginate<Repo[]>({ baseUrl: "/orgs/acme/repos" })) console.log(repo.name);
   * ```
   * @throws HttpUsageError at once when the request or an option is wrong
   * @throws HttpError `ERR_HTTP_PAGE` when a page is not a list, the next one is of another origin,
   * or there are too many
   * @throws ResponseSchemaError for a page that `schema` does not accept
   * @throws TransportError and ResponseError as `send` does
   */
  paginate<Page = unknown, Item = ItemOf<Page>>(
    request: RestRequest | EndpointRequest,
    options: PaginateOptions<Page, Item> = {},
  ): AsyncGenerator<Item, void, undefined> {
    const pagination = paginationOf(options);
    const { built, settings, given } = this.#prepare(request, pagination.sending);
    return eachItem(built, pagination, async (page) => {
      const performed = await this.#perform(page, settings, given);
      return { ...performed, response: new RestResponse(performed.response) };
    });
  }

  /** Sends what `buildRequestObject` made, without the defaults of this client. */
  async exchange(request: RequestObject, options?: SendOptions): Promise<WholeResponse> {
    const settings =
      options === undefined ? this.#settings : withPolicy(this.#settings, checked(options));
    return (await this.#perform(request, settings, options ?? noOptions)).response;
  }

  /**
   * Makes a client with these options over the ones of this client: headers, query parameters and
   * hooks are added, everything else is replaced. It uses the same connections, unless the options
   * have a transport.
   *
   * @throws HttpUsageError `ERR_HTTP_OPTION`, `ERR_HTTP_HEADER` or `ERR_HTTP_URL`
   */
  extend(options: ClientOptions): Client {
    const client = new Client(
      options.transport === undefined ? {} : { transport: options.transport },
    );
    client.#settings = extendSettings(this.#settings, options);
    if (options.transport === undefined) client.#source = this.#source.shared();
    return client;
  }

  /**
   * Lets running requests end, closes the connections of this client's own transport, and refuses
   * further requests. A process need not wait for it.
   */
  async close(): Promise<void> {
    await this.#source.close();
  }

  /** {@link Client.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #sendWith(
    request: RestRequest | EndpointRequest,
    options: SendOptions | undefined,
  ): Promise<RestResponse> {
    const { built, settings, given } = this.#prepare(request, options);
    const { response, request: last } = await this.#perform(built, settings, given);
    return toResponse(response, last, settings);
  }

  async #finish(
    request: RequestObject,
    settings: Settings,
    received: WholeResponse,
  ): Promise<RestResponse> {
    const { response, request: last } = await this.#perform(request, settings, noOptions, received);
    return toResponse(response, last, settings);
  }

  #prepare(
    request: RestRequest | EndpointRequest,
    options: SendOptions | undefined,
  ): { readonly built: RequestObject; readonly settings: Settings; readonly given: SendOptions } {
    const built = buildWith(request, this.#settings);
    const own = "request" in request ? ownOptions(request.request) : undefined;
    if (options === undefined && own === undefined) {
      return { built, settings: this.#settings, given: noOptions };
    }
    const given = { ...own, ...checked(options ?? noOptions) };
    return { built, settings: withPolicy(this.#settings, given), given };
  }

  async #perform(
    request: RequestObject,
    settings: Settings,
    options: SendOptions,
    received?: WholeResponse,
  ): Promise<Performed<WholeResponse>> {
    const transport = this.#source.current ?? (await this.#source.load());
    const performed = await perform<WholeResponse>({
      settings,
      request,
      options,
      maxResponseSize: settings.maxResponseSize ?? defaultMaxResponseSize,
      run: (exchange) => transport.exchange(exchange),
      discard: ignore,
      received,
    });
    performed.deadline?.dispose();
    return performed;
  }
}

function plainLimits(settings: Settings): Parameters<typeof transportRequest>[1] {
  return {
    timeouts: settings.timeouts.phases,
    maxResponseSize: settings.maxResponseSize ?? defaultMaxResponseSize,
  };
}

function toResponse(
  response: WholeResponse,
  request: RequestObject,
  { throwOnStatus }: Settings,
): RestResponse {
  const result = new RestResponse(response);
  if (throwOnStatus && response.status >= 400) throw new ResponseError(result, request);
  return result;
}

/** The body of a stream counts for the total time as well. */
function withDeadline({
  response,
  request,
  deadline,
}: Performed<StreamedResponse>): StreamedResponse {
  if (deadline === undefined) return response;
  if (request.method === "HEAD" || response.status === 204 || response.status === 304) {
    deadline.dispose();
    return response;
  }
  const body = passOn(response.body, {
    onEnd: () => deadline.dispose(),
    explain: (error) => deadline.explain(error, request),
  });
  return { ...response, body };
}

const sendOptionNames: readonly (keyof SendOptions)[] = [...policyNames, "signal"];

function checked(options: SendOptions): SendOptions {
  if (typeof options !== "object" || options === null) {
    throw optionError("options", options, "an object");
  }
  checkOptions<SendOptions>("send", options, sendOptionNames);
  return checkedValues(options);
}

function checkedValues(options: SendOptions): SendOptions {
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw optionError("signal", signal, "an AbortSignal");
  }
  return options;
}

/** Options from `endpoint()`'s request; its other members are not for the client. */
function ownOptions(given: unknown): SendOptions | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  // `withPolicy` and this look at every value before it is used.
  return checkedValues(given);
}

/** Hooks, iterables and getters of a caller may throw anything. */
function asError(cause: unknown): Error {
  if (cause instanceof Error) return cause;
  return new HttpUsageError("ERR_HTTP_OPTION", "a function of the caller threw no error", {
    cause,
  });
}

function ignore(): void {
  // A whole response holds nothing, and nothing reads the errors of a cancelled stream.
}
