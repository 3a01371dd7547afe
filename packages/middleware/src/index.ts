export { appInfo, type AppInfoOptions } from "./app-info.ts";
export { canonicalPath, canonicalizePath } from "./canonical-path.ts";
export { encodeJSON, renderJSON, renderJSONFromBytes, renderJSONWithHTML } from "./encode-json.ts";
export {
  AbortHandlerError,
  HandlerTimeoutError,
  MiddlewareError,
  RequestError,
  type MiddlewareErrorCode,
  type RequestErrorCode,
} from "./errors.ts";
export { health, type HealthCheck, type HealthItem, type HealthOptions } from "./health.ts";
export { maybe, type RequestCondition } from "./maybe.ts";
export { ping, type PingOptions } from "./ping.ts";
export { reject } from "./reject.ts";
export { getTraceID, trace, type TraceOptions } from "./trace.ts";
export { wrap, type Context, type Handler, type Middleware } from "@fetchwork/http";
