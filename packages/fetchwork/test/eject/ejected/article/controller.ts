import { empty, json } from "@fetchwork/http";
import {
  type Fields,
  type Resource,
  type ResourceCall,
  type ResourceController,
} from "@fetchwork/rest";
import {
  changeDocument,
  checkReferences,
  createPageFinder,
  createQueryReader,
  documentAnswer,
  hiddenFields,
  mergePatch,
  noneMatchHolds,
  notFound,
  pageAnswer,
  populate,
  readPopulate,
  readShownFields,
  refuseConflicts,
  releaseReferences,
  requirePreconditions,
  showDocument,
  validateChange,
  view,
  withOwners,
  writeTogether,
} from "@fetchwork/rest/handlers";
import { article as model } from "./model.ts";

// Written out by `fetchwork eject`. The routes have applied access rules and validated bodies before they come here.

const resource: Resource<typeof model.schema> = model;
const { collection, nullable, path, present, schema } = resource;
const readList = createQueryReader(resource);
const findPage = createPageFinder(resource);

export const articleController: ResourceController<typeof schema> = {
  async list(call) {
    const tree = readPopulate(resource, call.query);
    const query = readList(call);
    const found = await findPage(call, query);
    const { documents } = found;
    const rows = await withOwners(
      call,
      {
        resource,
        documents,
        rows: documents.map((document) => present(document, call, query.fields)),
      },
      query.fields,
    );
    const whole = await populate(call, { resource, documents, rows }, tree);
    return pageAnswer(call, found, whole);
  },

  async show(call) {
    const tree = readPopulate(resource, call.query);
    const fields = readShownFields(resource, call);
    const id = call.params["id"] ?? "";
    const document = call.document ?? (await call.store.collection(collection).get(id));
    if (!document) throw notFound(resource.name);
    const { etag, shown } = await showDocument(resource, call, document, fields);
    requirePreconditions(call.request, etag);
    if (!tree && noneMatchHolds(call.request.headers.get("if-none-match"), etag)) {
      return empty(304, { headers: { etag } });
    }
    const rows = [shown];
    const [row] = await populate(call, { resource, documents: [document], rows }, tree);
    return json(row, { headers: { etag } });
  },

  async create(call) {
    const fields: Fields = { ...call.body };
    if (call.user) fields["writer"] = call.user.id;
    const document = await writeTogether(call, async (transaction) => {
      await checkReferences(resource, transaction, fields);
      return refuseConflicts(transaction.collection(collection).insert(fields));
    });
    const location = `${path}/${document.id}`;
    return documentAnswer(resource, call, document, { status: 201, headers: { location } });
  },

  // `null` means that a field is not given, unless the schema knows `null`.
  update: (call) =>
    change(call, (current, sent) => {
      const given = Object.entries(sent).filter(
        ([name, value]) => value !== null || nullable.has(name),
      );
      return { ...current, ...Object.fromEntries(given) };
    }),

  // JSON Merge Patch (RFC 7396): `null` takes the field away.
  patch: (call) => change(call, mergePatch),

  async remove(call) {
    const isReferredTo = call.resources.referrersOf(resource).length > 0;
    await changeDocument(resource, call, {
      operation: "remove",
      isTogether: isReferredTo,
      async change({ current, documents, transaction }) {
        if (isReferredTo && transaction) {
          await releaseReferences(call.resources, transaction, { resource, id: current.id });
        }
        const isGone = await documents.remove(current.id, { ifVersion: current.version });
        return isGone ? current : undefined;
      },
    });
    return empty();
  },
};

/** Merges what was sent into the document and validates the whole. */
async function change(
  call: ResourceCall,
  merge: (current: Fields, sent: Fields) => unknown,
): Promise<Response> {
  const document = await changeDocument(resource, call, {
    operation: "update",
    isTogether: true,
    async change({ current, documents, transaction }) {
      const whole = merge(view(current, resource.fields), call.body);
      const valid = await validateChange(resource, call, { current, whole });
      const fields = { ...hiddenFields(resource, current), ...valid };
      await checkReferences(resource, transaction, fields, current);
      const condition = { ifVersion: current.version };
      return refuseConflicts(documents.replace(current.id, fields, condition));
    },
  });
  return documentAnswer(resource, call, document);
}
