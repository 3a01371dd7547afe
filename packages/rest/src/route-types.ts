/** Types of the routes of a resource, for the typed client; exist in types only. */
export interface ResourceTypes<
  Name extends string = string,
  Document = unknown,
  Input = unknown,
  Related = unknown,
  Lists = unknown,
  Operations extends string = string,
> {
  /** Last part of the path, in camel case: `blogPosts`. */
  readonly resource: Name;
  /** A document as clients see it. */
  readonly document: Document;
  /** Body with which clients create a document. */
  readonly input: Input;
  /** Documents that its relations lead to. */
  readonly related: Related;
  /** Fields by which its lists filter and sort, a {@link ListTypes}; `unknown` for any. */
  readonly lists: Lists;
  /** Names of the handlers that its controller has; `string` for all. */
  readonly operations: Operations;
}

/** Fields by which lists filter and sort, as types know them. */
export interface ListTypes<Filter extends string = string, Sort extends string = string> {
  readonly filter: Filter;
  readonly sort: Sort | "createdAt" | "id" | "updatedAt";
}

/** Types of any other route, for the typed client; exist in types only. */
export interface OperationTypes<
  Name extends string = string,
  Parameter extends string = string,
  Body = unknown,
  ResponseBody = unknown,
> {
  readonly operation: Name;
  /** Names of the parameters of the path. */
  readonly parameter: Parameter;
  /** Body that clients send; `undefined` for a route without a schema of the body. */
  readonly body: Body;
  /** Body of the successful response. */
  readonly response: ResponseBody;
}

/** Something that carries what the typed client knows: a route or an API. */
export interface Typed<Types> {
  /** Never set: carries types. */
  readonly types?: Types | undefined;
}

/** Types of a list of routes, for the typed client. */
export type TypesOfRoutes<Routes extends readonly unknown[]> = TypesOfRoute<Routes[number]>;

type TypesOfRoute<Route> =
  Route extends Typed<infer Types> ? (unknown extends Types ? never : Types) : never;

/** Names of the parameters in a path like `/articles/:id`. */
export type ParametersOf<Path extends string> = Path extends `${infer Part}/${infer Rest}`
  ? ParametersOf<Part> | ParametersOf<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

/** Last part of a path. */
export type LastPart<Path extends string> = Path extends `${string}/${infer Rest}`
  ? LastPart<Rest>
  : Path;

/** `blog-posts` as `blogPosts`. */
export type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
