import type { EndpointDefaults, EndpointOptions, RequestOptions } from "./options.ts";
import type { RequiredVariables, RouteVariables } from "./route-variables.ts";

/** The options after a literal route; needed when a variable has no default. */
export type RouteArguments<R extends string, Known extends string> = string extends
  R | RequiredVariables<R>
  ? [options?: EndpointOptions]
  : [Exclude<RequiredVariables<R>, Known>] extends [never]
    ? [options?: EndpointOptions & RouteVariables<R, Known>]
    : [options: EndpointOptions & RouteVariables<R, Known>];

/** Options with an url in place of a route. */
export type UrlOptions<U extends string, Known extends string> = EndpointOptions &
  RouteVariables<U, Known> &
  ("url" extends Known ? { readonly url?: U } : { readonly url: U });

/** A route that was read once. */
export type CompiledRoute<R extends string, Known extends string = never> = (
  ...options: RouteArguments<R, Known>
) => RequestOptions;

/**
 * Builds request options from a route and parameters. `Known` are the names of the parameters with
 * a default.
 *
 * @throws {EndpointError} for anything that cannot become a request; see `code`.
 */
export interface Endpoint<Known extends string = never> {
  /**
   * Builds from `<METHOD> <url>`, or an url alone.
   *
   * @example
   * endpoint("GET /orgs/{org}/repos", { org: "octo", type: "private" }).url;
   * // "…/orgs/octo/repos?type=private"
   */
  <const R extends string>(route: R, ...options: RouteArguments<R, Known>): RequestOptions;
  /** Builds from options alone. */
  <const U extends string>(options: UrlOptions<U, Known>): RequestOptions;

  /** The current defaults, frozen; no call changes them. */
  readonly DEFAULTS: EndpointDefaults;

  /** Returns a new builder with these options over the current defaults. */
  defaults<const O extends EndpointOptions>(options: O): Endpoint<Known | Extract<keyof O, string>>;

  /** Returns the defaults with a route and options over them, for {@link Endpoint.parse}. */
  merge(route: string, options?: EndpointOptions): EndpointDefaults;
  merge(options?: EndpointOptions): EndpointDefaults;

  /** Turns merged options into request options. `endpoint(o)` is `parse(merge(o))`. */
  parse(options: EndpointOptions): RequestOptions;

  /** Reads a route once and returns a function of its options, for routes that are used often. */
  compile<const R extends string>(route: R): CompiledRoute<R, Known>;
}
