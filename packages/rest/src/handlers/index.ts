export { forbidden, requireOwner } from "../access.ts";
export { networkOf } from "../accounts/network-of.ts";
export { etagOf, jsonTag, noneMatchHolds, requirePreconditions, taggedJson } from "../etag.ts";
export { documentResponse } from "../http/resource-routes.ts";
export { named } from "../named-schema.ts";
export { openApiDocument } from "../openapi/openapi.ts";
export { changeDocument, type ChangePlan, type Changing } from "../operations/change-document.ts";
export {
  type ConditionalWrite,
  writeConditionally,
  type WriteTarget,
} from "../operations/conditional-write.ts";
export type { Found } from "../operations/find-page.ts";
export { requireTrash } from "../operations/list.ts";
export { documentAnswer, showDocument, type ShownDocument } from "../operations/document-answer.ts";
export { mergePatch } from "../operations/merge-patch.ts";
export { withOwners } from "../operations/owners.ts";
export { createPageFinder, pageAnswer, type PageFinder } from "../operations/page-answer.ts";
export {
  cursorLinks,
  type ListPlace,
  pageLinks,
  type PageWindow,
} from "../operations/page-links.ts";
export { refuseConflicts } from "../operations/refuse-conflicts.ts";
export { checkReferences } from "../operations/relations/check-references.ts";
export { populate, type ShownDocuments } from "../operations/relations/populate.ts";
export { releaseReferences } from "../operations/relations/release-references.ts";
export { type ChangedDocument, validateChange } from "../operations/validate-change.ts";
export { readShownFields } from "../plan/fields-parameter.ts";
export { createListReader, parseListQuery } from "../plan/list-query.ts";
export { listParameters, listResponse, resourceListResponse } from "../plan/list-reference.ts";
export { type PopulateTree, readPopulate } from "../plan/populate-parameter.ts";
export { createQueryReader, type QueryReader } from "../plan/query-reader.ts";
export { type AccessQuestion, requireAccess } from "../plan/resource-access.ts";
export { notFound } from "../problem.ts";
export { writeTogether } from "../resource/call.ts";
export { without } from "../resource/guarded-schema.ts";
export { hiddenFields } from "../resource/hidden-fields.ts";
export { afterChange } from "../resource/hooks.ts";
export type { ListQuery, NamedFields } from "../resource/list-rules.ts";
export type { Referrer } from "../resource/relations/referrers.ts";
export { jsonSchemaOf, propertiesOf, validate } from "../schema.ts";
export { view } from "../view.ts";
