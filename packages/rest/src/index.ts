export type { Evidence } from "./access-token.ts";
export type { AccessRule, CallerOf } from "./access.ts";
export type { Account, AccountSource } from "./account.ts";
export type { AttemptRule, AttemptStore } from "./accounts/attempt-store.ts";
export {
  type AttemptLimiterOptions,
  createAttemptLimiter,
} from "./accounts/create-attempt-limiter.ts";
export {
  type AuthenticationOptions,
  createAuthentication,
} from "./accounts/create-authentication.ts";
export {
  createSessionTokens,
  type SessionTokensOptions,
} from "./accounts/create-session-tokens.ts";
export {
  attemptCollection,
  documentsAttemptStore,
  type StoredAttempts,
} from "./accounts/documents-attempt-store.ts";
export {
  documentsRateLimitStore,
  rateLimitCollection,
  type StoredRequests,
} from "./accounts/documents-rate-limit-store.ts";
export {
  memoryAttemptStore,
  type MemoryAttemptStoreOptions,
} from "./accounts/memory-attempt-store.ts";
export {
  createPasswordResets,
  type PasswordHolder,
  type PasswordReset,
  type PasswordResets,
  type PasswordResetsOptions,
} from "./accounts/password-resets.ts";
export { hashPassword, verifyPassword } from "./accounts/password.ts";
export type { AttemptBy, AttemptLimiter, SignInAttempt } from "./attempt-limiter.ts";
export { RestError, type RestErrorCode } from "./errors.ts";
export { type FieldError, fieldError } from "./field-error.ts";
export type { Fields } from "./fields.ts";
export { type Api, type ApiOptions, createApi } from "./http/api.ts";
export { idempotencyRecords as idempotencyCollection } from "./http/idempotency/idempotency-record.ts";
export type { Authentication } from "./http/authentication.ts";
export { resourceRoutes } from "./http/resource-routes.ts";
export { writeReference } from "./openapi/documentation.ts";
export type { ApiInfo, OpenApiDocument } from "./openapi/openapi.ts";
export {
  createResourceController,
  type ResourceController,
} from "./operations/resource-controller.ts";
export { defineRoute, type Route, type RouteDefinition, type RouteMethod } from "./plan/route.ts";
export { badFields, Problem, type ProblemOptions } from "./problem.ts";
export type { AccessFunction, Operation, ResourceRule } from "./resource/access-rules.ts";
export type { BodyFields, Call, ResourceCall, ResourceHandler } from "./resource/call.ts";
export { defineResource } from "./resource/define-resource.ts";
export type {
  ComputedFields,
  DerivedFields,
  ShownBy,
  ShownField,
  ShownOwner,
  StoredBy,
} from "./resource/document-types.ts";
export type { FieldAccess, FieldRule, FieldRules, RestrictedIn } from "./resource/field-access.ts";
export type { FilterField } from "./resource/filter-field.ts";
export type { FilterKind, FilterScalar, FilterType } from "./resource/filter-value.ts";
export type { ChangeEvent, HookEvent, ResourceHooks } from "./resource/hooks.ts";
export type { ListOptions } from "./resource/list-options.ts";
export { type ListParameter, listParameter } from "./resource/list-parameter.ts";
export type {
  ListRules,
  NearPoint,
  ParameterNames,
  StandardParameter,
} from "./resource/list-rules.ts";
export type { ComputedField, DerivedField, Presenter } from "./resource/presenter.ts";
export type { PublicUser, PublicUsers } from "./resource/public-user.ts";
export type { OnDelete, ResourceGraph } from "./resource/relations/referrers.ts";
export type {
  PopulateOptions,
  Relation,
  Relations,
} from "./resource/relations/relation-options.ts";
export type { ResourceOptions } from "./resource/resource-options.ts";
export type { DocumentOf, Resource } from "./resource/resource.ts";
export {
  adminViewer,
  type Viewer,
  type ViewerKind,
  type ViewOptions,
  type Views,
} from "./resource/views.ts";
export type { QueryParameter, RouteResponse } from "./route-reference.ts";
export type { OperationTypes, ResourceTypes, Typed } from "./route-types.ts";
export type { JsonSchema, OutputOf, Schema } from "./schema.ts";
export type { SessionClaims, SessionTokens } from "./session-tokens.ts";
