export {
  createTypedEndpoint,
  type TypedCall,
  type TypedEndpoint,
  type TypedEndpointOptions,
} from "./create-typed-endpoint.ts";
export type { TypedCallOptions, TypedFailure, TypedResult, TypedSuccess } from "./operation.ts";
export { EndpointResponseError } from "./response-error.ts";
