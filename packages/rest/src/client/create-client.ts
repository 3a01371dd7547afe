import { createEndpoint, type CompiledRoute } from "@fetchwork/endpoint";
import { createOptionCheck, UsageError } from "@fetchwork/kit";
import { Client, type ClientOptions as HttpOptions, type RestResponse } from "@fetchwork/http";
import type { ApiClient, CallOptions } from "./api-client.ts";
import { type AuthClient, createAuthClient, type Sending } from "./auth-client.ts";
import type { AuthOptions } from "./client-session.ts";
import { type ApiDescription, indexOperations, json, type OperationIndex } from "./description.ts";
import { ClientError, ProblemError } from "./errors.ts";
import { queryTexts } from "./list-parameters.ts";
import { type PageResult, pageResultOf, queryResultOf, resultOf } from "./result.ts";

/** Options of {@link createClient}. */
export interface ApiClientOptions extends Pick<
  HttpOptions,
  "headers" | "hooks" | "logger" | "maxResponseSize" | "retry" | "timeout" | "transport"
> {
  /** Where the API is: an absolute URL without query. */
  readonly baseUrl: string;
  /**
   * Session token, or master key, sent as `Authorization: Bearer`; a function is asked before each
   * request and may say `undefined`. Default: none.
   */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Adds `client.auth`, by which users of `accounts` sign up, in and out, and sends the token of
   * who is signed in with each call; not together with `token`. A token that expires, or that a 401
   * refuses, is refreshed once for all calls that wait, and each is sent again. Default: none.
   */
  readonly auth?: true | AuthOptions | undefined;
  /**
   * Description of the API, such as `openapi.json` written by `writeReference`. Default: fetched
   * from `/openapi.json` under `baseUrl` with the first call.
   */
  readonly openApi?: ApiDescription | undefined;
}

const checkOptions = createOptionCheck(
  (message) => new UsageError("ERR_REST_CONFIGURATION", message),
);

/**
 * Makes a typed client of an API; its types come from the definitions, without generated code.
 *
 * Calls resolve with a {@link Result}. They reject with a {@link ProblemError} for a status of 400
 * or more. Without a response they reject with a `TransportError` of `@fetchwork/http`. For an
 * operation that the API does not have they reject with a {@link ClientError}.
 *
 * @throws HttpUsageError of `@fetchwork/http` for a wrong option, UsageError of `@fetchwork/kit`
 * with the code `ERR_REST_CONFIGURATION` for one that does not exist, ClientError
 * `ERR_REST_DESCRIPTION` for a wrong `openApi`
 * @example
 * ```ts
 * const client = createClient<typeof api>({ baseUrl: "https://blog.example", token });
 * const { data, next } = await client.articles.list({ q: "tea", limit: 3 });
 * ```
 */
export function createClient<Api>(
  options: ApiClientOptions & { readonly auth: true | AuthOptions },
): ApiClient<Api> & { readonly auth: AuthClient<Api> };
export function createClient<Api>(options: ApiClientOptions): ApiClient<Api>;
export function createClient<Api>(options: ApiClientOptions): ApiClient<Api> {
  checkOptions("createClient", options, [
    "baseUrl",
    "token",
    "auth",
    "openApi",
    "headers",
    "hooks",
    "logger",
    "maxResponseSize",
    "retry",
    "timeout",
    "transport",
  ]);
  const { auth, baseUrl, token, openApi, ...settings } = options;
  if (auth !== undefined && token !== undefined) {
    throw new UsageError("ERR_REST_CONFIGURATION", "createClient takes either auth or token");
  }
  if (auth !== undefined && auth !== true) {
    checkOptions("auth of createClient", auth, ["tokens", "onSignOut"]);
  }
  const http = new Client({ ...settings, baseUrl });
  const endpoint = createEndpoint({ baseUrl });
  const routes = new Map<string, CompiledRoute<string>>();
  let index: OperationIndex | undefined = openApi && indexOperations(openApi);
  let loading: Promise<OperationIndex> | undefined;
  const account = auth && createAuthClient(auth === true ? {} : auth, send);

  function load(): Promise<OperationIndex> {
    loading ??= fetchDescription(http).then(
      (found) => (index = found),
      (error: unknown) => {
        loading = undefined; // The next call tries again.
        throw error;
      },
    );
    return loading;
  }

  async function send(name: string, sending: Sending): Promise<RestResponse> {
    const { authorization, options: given } = sending;
    if (authorization !== undefined) return exchange(name, sending);
    const hasOwn = Object.keys(given?.headers ?? {}).some((one) => /^authorization$/i.test(one));
    const held = hasOwn ? undefined : await account?.session.current();
    const bearer = held?.token ?? (typeof token === "function" ? await token() : token);
    const attempt = (one?: string) =>
      exchange(name, one === undefined ? sending : { ...sending, authorization: `Bearer ${one}` });
    try {
      return await attempt(bearer);
    } catch (error) {
      // A 401 that names a field asks for a code of the second factor.
      const isExpired = error instanceof ProblemError && error.status === 401 && !error.param;
      const renewed = held && isExpired ? await account?.session.renew(held) : undefined;
      if (!renewed) throw error;
      return attempt(renewed.token);
    }
  }

  async function exchange(name: string, sending: Sending): Promise<RestResponse> {
    const target = (index ?? (await load())).get(name);
    if (!target) throw new ClientError("ERR_REST_OPERATION", `the API has no operation ${name}`);
    const { authorization, query, input, options: given = {} } = sending;
    const params = sending.params ?? (input ? { id: "me", ...input } : {});
    const own = Object.entries(input ?? {}).filter(([key]) => !target.parameters.includes(key));
    const body = own.length === 0 ? sending.body : Object.fromEntries(own);
    const values: Record<string, unknown> = { query: queryTexts(query, given.query) };
    for (const [position, parameter] of target.parameters.entries()) {
      const value = Object.hasOwn(params, parameter) ? params[parameter] : undefined;
      if (typeof value !== "string" || value === "") {
        throw new ClientError("ERR_REST_OPERATION", `${name} needs the parameter ${parameter}`);
      }
      values[`p${position}`] = value;
    }
    let route = routes.get(target.route);
    if (!route) routes.set(target.route, (route = endpoint.compile(target.route)));
    const headers = { accept: target.type, ...headersOf(given, sending) };
    const { retry, signal, timeout } = given;
    const request = route({ ...values, headers, ...(body === undefined ? {} : { data: body }) });
    // Calls of accounts have secrets in paths and bodies, which HTTP takes along to another origin.
    const isPlain = authorization?.startsWith("Bearer ") ?? authorization === undefined;
    const redirect = isPlain && input === undefined ? undefined : false;
    const response = await http.send(request, { redirect, retry, signal, timeout });
    if (response.statusCode >= 400) throw new ProblemError(response);
    if (redirect === false && response.statusCode >= 300) {
      throw new ClientError("ERR_REST_RESPONSE", `${name} is redirected, but sends secrets`);
    }
    return response;
  }

  async function* pages(
    name: string,
    query: object | undefined,
    options: CallOptions | undefined,
  ): AsyncGenerator<PageResult<unknown>, void, undefined> {
    let page = pageResultOf(await send(name, { query, options }));
    for (;;) {
      yield page;
      if (!page.next) return;
      const { query: _, ...rest } = options ?? {};
      page = pageResultOf(await send(name, { query: page.next, options: rest }));
    }
  }

  /** Looks an operation up only when it is called, since only types know the names before. */
  function member(name: string): unknown {
    const of = (action: string): string => `${name}.${action}`;
    const one = (action: string) => async (id: string, options?: CallOptions) =>
      resultOf(await send(of(action), { params: { id }, options }));
    const change = (action: string) => async (id: string, body: unknown, options?: CallOptions) =>
      resultOf(await send(of(action), { params: { id }, body, options }));
    const call = async (
      input: Pick<Sending, "body" | "params"> = {},
      options?: CallOptions,
    ): Promise<unknown> => {
      const response = await send(name, { ...input, options });
      return resultOf(response, index?.get(name)?.type);
    };

    return Object.assign(call, {
      list: async (query?: object, options?: CallOptions) =>
        pageResultOf(await send(of("list"), { query, options })),
      query: async (query: object = {}, options?: CallOptions) =>
        queryResultOf(await send(of("query"), { body: query, options }), query),
      pages: (query?: object, options?: CallOptions) => pages(of("list"), query, options),
      show: one("show"),
      remove: one("remove"),
      restore: one("restore"),
      update: change("update"),
      patch: change("patch"),
      create: async (body: unknown, options?: CallOptions) =>
        resultOf(await send(of("create"), { body, options })),
      groups: async (query?: object, options?: CallOptions) =>
        pageResultOf(await send(of("groups"), { query, options })),
      bulk: async (operations: readonly unknown[], options?: CallOptions) =>
        resultOf(await send(of("bulk"), { body: { operations }, options })),
    });
  }

  const members = new Map<string, unknown>();
  if (account) members.set("auth", account.client);
  const client = new Proxy(
    {},
    {
      get(_target, name) {
        if (name === Symbol.asyncDispose) return () => http.close();
        // A client has none of the members by which languages and tools recognize promises and the
        // like.
        if (typeof name !== "string" || name === "then" || name === "toJSON") return undefined;
        if (!members.has(name)) members.set(name, member(name));
        return members.get(name);
      },
    },
  );
  // Its members have any name; the types allow only those of the API.
  return client as ApiClient<Api>;
}

async function fetchDescription(http: Client): Promise<OperationIndex> {
  const response = await http.send({ baseUrl: "/openapi.json", headers: { accept: json } });
  if (!response.ok) {
    const message = `the description of the API has the status ${response.statusCode}`;
    throw new ClientError("ERR_REST_DESCRIPTION", message);
  }
  let description: unknown;
  try {
    description = JSON.parse(response.body);
  } catch (cause) {
    const message = "the description of the API is not JSON";
    throw new ClientError("ERR_REST_DESCRIPTION", message, { cause });
  }
  return indexOperations(description);
}

function headersOf(options: CallOptions, { authorization }: Sending): Record<string, string> {
  const { headers, idempotencyKey, ifMatch, ifNoneMatch } = options;
  return {
    ...(typeof authorization === "string" ? { authorization } : {}),
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    ...headers,
  };
}
