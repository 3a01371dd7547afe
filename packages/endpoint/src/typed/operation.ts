import type { HeadersOption } from "../headers.ts";

/** Methods that a description may have and `fetch` can send (`TRACE` is forbidden there). */
export type TypedMethod = "GET" | "PUT" | "POST" | "DELETE" | "OPTIONS" | "HEAD" | "PATCH";

/** The paths that have a method, which is in lower case as in the types. */
export type PathsOf<Paths, Method extends string> = {
  [Path in keyof Paths]: Paths[Path] extends { readonly [Name in Method]: object } ? Path : never;
}[keyof Paths];

/** The operation of a path and a method. */
export type OperationOf<Paths, Path, Method extends string> = Path extends keyof Paths
  ? Paths[Path] extends { readonly [Name in Method]: infer Operation }
    ? Operation
    : never
  : never;

/** How a body is read whatever its media type is: the methods of `Response`, or as a stream. */
export interface BodyReaders {
  readonly json: unknown;
  readonly text: string;
  readonly blob: Blob;
  readonly arrayBuffer: ArrayBuffer;
  readonly stream: ReadableStream<Uint8Array> | null;
}

/**
 * A schema of any library that follows Standard Schema, version 1, such as zod or Valibot.
 *
 * @see https://standardschema.dev
 */
export interface BodySchema<Output> {
  /** Part that the standard defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => BodyResult<Output> | Promise<BodyResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type BodyResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly BodyIssue[] };

/** One thing that a schema found wrong. */
export interface BodyIssue {
  /** Fault of the value, in the words of the schema's library, which may quote the body. */
  readonly message: string;
  /** Where it is wrong. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Writes the query of a call, without `?`. */
export type QuerySerializer = (query: Readonly<Record<string, unknown>>) => string;

/** Options of a call for every operation, next to the options of `fetch` such as `signal`. */
export interface TypedCallOptions<Output, Reader> extends Omit<
  RequestInit,
  "body" | "headers" | "method"
> {
  /** Put over those of {@link TypedEndpointOptions}, under `params.header`; `null` removes one. */
  readonly headers?: HeadersOption | undefined;
  /** For styles other than the default. Default: that of {@link TypedEndpointOptions}. */
  readonly querySerializer?: QuerySerializer | undefined;
  /** Checks and types the data of a 2xx; see {@link EndpointResponseError}. Default: none. */
  readonly schema?: BodySchema<Output> | undefined;
  /**
   * Reads the data of a 2xx response in one way. Default: JSON for a JSON media type, text for
   * `text/*` and where no type is stated, else a `Blob`.
   */
  readonly parseAs?: Reader | undefined;
}

/** The second argument of a call, optional where nothing is required. */
export type CallArguments<Operation, Output, Reader> =
  RequiredKey<ParametersOption<Operation> & BodyOption<Operation>> extends never
    ? [options?: CallOptions<Operation, Output, Reader>]
    : [options: CallOptions<Operation, Output, Reader>];

type CallOptions<Operation, Output, Reader> = ParametersOption<Operation> &
  BodyOption<Operation> &
  TypedCallOptions<Output, Reader>;

type RequiredKey<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T];

type ParametersOption<Operation> = Operation extends { parameters: infer Parameters }
  ? RequiredKey<Parameters> extends never
    ? { readonly params?: Parameters | undefined }
    : { readonly params: Parameters }
  : { readonly params?: undefined };

type BodyOption<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { readonly body: RequestBody<Content> }
  : Operation extends { requestBody?: { content: infer Content } | undefined }
    ? { readonly body?: RequestBody<Content> | undefined }
    : { readonly body?: undefined };

type JsonType = `${string}/json${string}` | `${string}+json${string}` | "*/*";

/** Data for JSON; for every other media type what `fetch` takes as a body. */
type RequestBody<Content> = {
  [Type in keyof Content]: Type extends JsonType ? Content[Type] : NonNullable<RequestInit["body"]>;
}[keyof Content];

type ResponseBody<Response> = Response extends { content: infer Content }
  ? {
      [Type in keyof Content]: Type extends JsonType
        ? Content[Type]
        : Type extends `text/${string}`
          ? string
          : Blob;
    }[keyof Content]
  : undefined;

type SuccessStatus<Responses> = {
  [Status in keyof Responses]: Status extends string | number
    ? `${Status}` extends `2${string}`
      ? Status
      : never
    : never;
}[keyof Responses];

/** Ranges such as `4XX`, and `default`, have no literal status. */
type StatusNumber<Status> = Status extends number ? Status : number;

/** A 2xx response. */
export interface TypedSuccess<Status, Data> {
  readonly ok: true;
  readonly status: Status;
  /** `undefined` when the body is empty. */
  readonly data: Data;
  readonly error?: undefined;
  /** Its body is read, unless `parseAs` is `"stream"`. */
  readonly response: Response;
}

/** Any other response. */
export interface TypedFailure<Status, Problem> {
  readonly ok: false;
  readonly status: Status;
  readonly data?: undefined;
  /** The body, parsed as by the default of `parseAs`, or text if not JSON; `undefined`: empty. */
  readonly error: Problem;
  /** The platform's response; its body has been read. */
  readonly response: Response;
}

/** Result of a call: one member for each status that the description lists. */
export type TypedResult<Operation, Output = never, Reader = never> = Operation extends {
  responses: infer Responses;
}
  ? | Listed<
        { [Status in SuccessStatus<Responses>]: Success<Responses, Status, Output, Reader> },
        TypedSuccess<number, Data<unknown, Output, Reader>>
      >
    | Listed<
        {
          [Status in Exclude<keyof Responses, SuccessStatus<Responses>>]: TypedFailure<
            StatusNumber<Status>,
            ResponseBody<Responses[Status]>
          >;
        },
        TypedFailure<number, unknown>
      >
  : never;

/** The members, or one of unknown content where the description lists none. */
type Listed<Members, Other> = [keyof Members] extends [never] ? Other : Members[keyof Members];

type Success<Responses, Status extends keyof Responses, Output, Reader> = TypedSuccess<
  StatusNumber<Status>,
  Data<ResponseBody<Responses[Status]>, Output, Reader>
>;

type Data<Body, Output, Reader> = [Output] extends [never]
  ? [Reader] extends [keyof BodyReaders]
    ? [Reader] extends ["json"] | [never]
      ? Body
      : BodyReaders[Reader]
    : Body
  : Output;
