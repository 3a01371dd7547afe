export {
  compile,
  createEndpoint,
  type CreateEndpointOptions,
  endpoint,
} from "./create-endpoint.ts";
export type { CompiledRoute, Endpoint, RouteArguments, UrlOptions } from "./endpoint.ts";
export { EndpointError, type EndpointErrorCode, type EndpointErrorOptions } from "./errors.ts";
export { expand, type ExpandOptions } from "./expand.ts";
export type { TemplateValue } from "./expression.ts";
export type { HeadersOption } from "./headers.ts";
export type { MediaTypeOption } from "./media-type.ts";
export type { EndpointDefaults, EndpointOptions, RequestOptions } from "./options.ts";
export { githubPreset, vendorPreset, type VendorPreset } from "./preset.ts";
export type { ArrayFormat } from "./query.ts";
export type {
  OptionalVariables,
  PresentValue,
  QueryValue,
  RequiredVariables,
  RouteVariables,
  TemplateVariables,
} from "./route-variables.ts";
export type { Scalar } from "./scalar.ts";
export { toRequest } from "./to-request.ts";
export { VERSION } from "./version.ts";
