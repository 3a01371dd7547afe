// For the other packages of Fetchwork: these names may change in any release.
export {
  createRetryRules,
  mayRetry,
  retryDelay,
  retryOptionNames,
  type AttemptOutcome,
  type FailedAttempt,
  type RepeatedRequest,
  type RetryRules,
} from "./client/retry.ts";
export type { FinishListener } from "./context.ts";
export { isReceivedRequest } from "./exchange/is-received-request.ts";
export type { ResponseBody } from "./message/fast-response.ts";
export { passOn } from "./message/pass-on.ts";
export { replaceBody, takeResponse, type TakenResponse } from "./message/replace-body.ts";
export { isWhole } from "./message/response.ts";
