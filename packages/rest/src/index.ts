export type { AccessRule, CallerOf } from "./access.ts";
export { forbidden, requireOwner } from "./access.ts";
export type { Account, AccountSource } from "./account.ts";
export type { Api, ApiOptions } from "./api.ts";
export { createApi } from "./api.ts";
export type { Evidence } from "./access-token.ts";
export type {
  SignInAttempt,
  AttemptBy,
  AttemptLimiter,
  AttemptLimiterOptions,
} from "./attempt-limiter.ts";
export { createAttemptLimiter } from "./attempt-limiter.ts";
export type { AttemptRule, AttemptStore } from "./attempt-store.ts";
export type { Authentication, AuthenticationOptions } from "./authentication.ts";
export { createAuthentication } from "./authentication.ts";
export type { ConditionalWrite, WriteTarget } from "./conditional-write.ts";
export { notFound, writeConditionally } from "./conditional-write.ts";
export { writeReference } from "./documentation.ts";
export type { StoredAttempts } from "./documents-attempt-store.ts";
export { attemptCollection, documentsAttemptStore } from "./documents-attempt-store.ts";
export type {
  DocumentsRateLimitStore,
  RequestQuota,
  RequestVerdict,
  StoredRequests,
} from "./documents-rate-limit-store.ts";
export { documentsRateLimitStore, rateLimitCollection } from "./documents-rate-limit-store.ts";
export type { RestErrorCode } from "./errors.ts";
export { RestError } from "./errors.ts";
export { etagOf, jsonTag, noneMatchHolds, requirePreconditions, taggedJson } from "./etag.ts";
export type { FieldError } from "./field-error.ts";
export { fieldError } from "./field-error.ts";
export type { ListQuery, ListRules } from "./list-query.ts";
export type { ParameterNames, StandardParameter } from "./standard-parameters.ts";
export { createListReader, parseListQuery } from "./list-query.ts";
export type { QueryReader } from "./query-reader.ts";
export { createQueryReader } from "./query-reader.ts";
export { networkOf } from "./network-of.ts";
export { mergePatch } from "./merge-patch.ts";
export type { MemoryAttemptStoreOptions } from "./memory-attempt-store.ts";
export { memoryAttemptStore } from "./memory-attempt-store.ts";
export type { ApiInfo, OpenApiDocument } from "./openapi.ts";
export { openApiDocument } from "./openapi.ts";
export { hashPassword, verifyPassword } from "./password.ts";
export type {
  PasswordHolder,
  PasswordReset,
  PasswordResets,
  PasswordResetsOptions,
} from "./password-resets.ts";
export { createPasswordResets } from "./password-resets.ts";
export type { ProblemOptions } from "./problem.ts";
export type { ListPlace, PageWindow } from "./page-links.ts";
export type { NearPoint } from "./near.ts";
export { cursorLinks, pageLinks } from "./page-links.ts";
export { badFields, Problem } from "./problem.ts";
export { refuseConflicts } from "./refuse-conflicts.ts";
export type { DocumentOf, Fields, Resource } from "./resource.ts";
export type {
  AccessFunction,
  ComputedFields,
  ListOptions,
  Operation,
  ResourceOptions,
  ResourceRule,
  ShownBy,
  ShownField,
  StoredBy,
} from "./resource-options.ts";
export type { ComputedField, Presenter } from "./presenter.ts";
export type { ChangeEvent, HookEvent, ResourceHooks } from "./hooks.ts";
export { afterChange } from "./hooks.ts";
export type { FilterField } from "./filter-parameters.ts";
export type { FilterKind, FilterScalar, FilterType } from "./filter-value.ts";
export type { ListParameter } from "./list-parameter.ts";
export { listParameter } from "./list-parameter.ts";
export type { OnDelete, PopulateOptions, Relation, Relations } from "./relations/relation.ts";
export type { Referrer, ResourceGraph } from "./relations/resource-graph.ts";
export type { OperationTypes, ResourceTypes, Typed } from "./route-types.ts";
export { defineResource } from "./resource.ts";
export type { ResourceCall, ResourceHandler } from "./operations/resource-call.ts";
export type { ResourceController } from "./resource-controller.ts";
export { createResourceController } from "./resource-controller.ts";
export type { ChangePlan, Changing } from "./operations/change-document.ts";
export { changeDocument } from "./operations/change-document.ts";
export type { Found } from "./operations/find-page.ts";
export { requireTrash } from "./operations/list.ts";
export type { PageFinder } from "./operations/page-answer.ts";
export { createPageFinder, pageAnswer } from "./operations/page-answer.ts";
export { writeTogether } from "./operations/resource-call.ts";
export { without } from "./guarded-schema.ts";
export { hiddenFields } from "./hidden-fields.ts";
export { checkReferences } from "./relations/check-references.ts";
export type { ShownDocuments } from "./relations/populate.ts";
export { populate } from "./relations/populate.ts";
export type { PopulateTree } from "./relations/populate-parameter.ts";
export { readShownFields } from "./fields-parameter.ts";
export { readPopulate } from "./relations/populate-parameter.ts";
export { releaseReferences } from "./relations/release-references.ts";
export type { AccessQuestion } from "./resource-access.ts";
export { requireAccess } from "./resource-access.ts";
export { listParameters, listResponse, resourceListResponse } from "./list-reference.ts";
export { documentResponse, resourceRoutes } from "./resource-routes.ts";
export type {
  BodyFields,
  Call,
  QueryParameter,
  Route,
  RouteDefinition,
  RouteMethod,
  RouteResponse,
} from "./route.ts";
export { defineRoute } from "./route.ts";
export type { JsonSchema, OutputOf, Schema } from "./schema.ts";
export { jsonSchemaOf, validate } from "./schema.ts";
export type { NamedFields } from "./sort-and-fields.ts";
export type { SessionClaims, SessionTokens, SessionTokensOptions } from "./session-token.ts";
export { createSessionTokens } from "./session-token.ts";
export { shareRuns } from "./share-runs.ts";
export type { ChangedDocument } from "./validate-change.ts";
export { validateChange } from "./validate-change.ts";
export { view } from "./view.ts";
export type { Viewer, ViewerKind, ViewOptions, Views } from "./views.ts";
export { adminViewer } from "./views.ts";
