export { addVary, changeHeaders, setDefault } from "./change-headers.ts";
export { createContextKey, type ContextKey } from "./context-key.ts";
export type { Context, FinishListener, FinishReport } from "./context.ts";
export {
  createContext,
  finishContext,
  type ContextInit,
  type ExchangeEnd,
} from "./create-context.ts";
export { deriveRequest, type DeriveOptions } from "./derive-request.ts";
export {
  HttpError,
  HttpUsageError,
  ListenError,
  type HttpErrorCode,
  type HttpUsageErrorCode,
} from "./errors.ts";
export type { Handler, Middleware } from "./handler.ts";
export { nativeRequest } from "./native-request.ts";
export { empty, json, text } from "./response.ts";
export { runHandler, wrap, type WrappedHandler } from "./wrap.ts";
