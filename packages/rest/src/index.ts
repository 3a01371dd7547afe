export type { AccessRule } from "./access.ts";
export type { Account, AccountSource } from "./account.ts";
export type { AttemptStore } from "./attempt-store.ts";
export {
  type AttemptLimiter,
  type AttemptLimiterOptions,
  createAttemptLimiter,
} from "./attempt-limiter.ts";
export {
  type AuthenticationOptions,
  createAuthentication,
} from "./accounts/create-authentication.ts";
export { attemptCollection, documentsAttemptStore } from "./accounts/documents-attempt-store.ts";
export {
  documentsRateLimitStore,
  rateLimitCollection,
} from "./accounts/documents-rate-limit-store.ts";
export { hashPassword, verifyPassword } from "./accounts/password.ts";
export { RestError, type RestErrorCode } from "./errors.ts";
export { type FieldError, fieldError } from "./field-error.ts";
export type { Fields } from "./fields.ts";
export { type Api, type ApiOptions, createApi } from "./http/api.ts";
export { idempotencyRecords as idempotencyCollection } from "./http/idempotency/idempotency-record.ts";
export { type Authentication, createCustomAuthentication } from "./http/authentication.ts";
export { resourceRoutes } from "./http/resource-routes.ts";
export { writeReference } from "./openapi/documentation.ts";
export type { OpenApiDocument } from "./openapi/openapi.ts";
export {
  createResourceController,
  type ResourceController,
} from "./operations/resource-controller.ts";
export { defineRoute, type Route, type RouteDefinition } from "./plan/route.ts";
export { badFields, Problem, type ProblemOptions } from "./problem.ts";
export type {
  AccessCall,
  AccessFunction,
  Operation,
  ResourceRule,
} from "./resource/access-rules.ts";
export type { Call, CallServices, ResourceCall, ResourceHandler } from "./resource/call.ts";
export { defineResource } from "./resource/define-resource.ts";
export type { ChangeEvent, HookEvent, ResourceHooks } from "./resource/hooks.ts";
export { type ListParameter, listParameter } from "./resource/list-parameter.ts";
export type { ListRules } from "./resource/list-rules.ts";
export type { PublicUser } from "./resource/public-user.ts";
export type { OnDelete } from "./resource/relations/referrers.ts";
export type { RelatedBy } from "./resource/relations/related-types.ts";
export type { ResourceOptions } from "./resource/resource-options.ts";
export type { DocumentOf, Resource } from "./resource/resource.ts";
export { adminViewer, type Viewer } from "./resource/views.ts";
export type { ListTypes, OperationTypes, ResourceTypes } from "./route-types.ts";
export type { InputOf, JsonSchema, OutputOf, Schema } from "./schema.ts";
export { createSessionTokens, type SessionTokens } from "./session-tokens.ts";
