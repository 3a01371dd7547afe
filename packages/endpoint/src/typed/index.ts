export {
  createTypedEndpoint,
  type TypedCall,
  type TypedEndpoint,
  type TypedEndpointOptions,
} from "./create-typed-endpoint.ts";
export type { TypedCallOptions, TypedResult } from "./operation.ts";
export { EndpointResponseError } from "./response-error.ts";
