export {
  compile,
  createEndpoint,
  type CreateEndpointOptions,
  endpoint,
} from "./create-endpoint.ts";
export type { CompiledRoute, Endpoint } from "./endpoint.ts";
export { EndpointError, type EndpointErrorCode } from "./errors.ts";
export { expand } from "./expand.ts";
export type { EndpointDefaults, EndpointOptions, RequestOptions } from "./options.ts";
export { githubPreset, vendorPreset, type VendorPreset } from "./preset.ts";
export type { Scalar } from "./scalar.ts";
export { toRequest } from "./to-request.ts";
export { VERSION } from "./version.ts";
