import { empty, json } from "@fetchwork/http";
import {
  type Fields,
  type Resource,
  type ResourceCall,
  type ResourceController,
} from "@fetchwork/rest";
import {
  changeDocument,
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
  requireTrash,
  showDocument,
  validateChange,
  view,
  without,
  writeTogether,
} from "@fetchwork/rest/handlers";
import { person as model } from "./model.ts";

// Written out by `fetchwork eject`. The routes have applied access rules and validated bodies before they come here.

const resource: Resource<typeof model.schema> = model;
const { collection, path, present, readOnly, schema, tagOf } = resource;
const readList = createQueryReader(resource);
const findPage = createPageFinder(resource);

export const personController: ResourceController<typeof schema> = {
  async list(call) {
    const tree = readPopulate(resource, call.query);
    const query = readList(call);
    if (query.trash !== undefined) requireTrash(resource, call);
    const found = await findPage(call, query);
    const { documents } = found;
    const rows = documents.map((document) => present(document, call, query.fields));
    const whole = await populate(call, { resource, documents, rows }, tree);
    return pageAnswer(call, found, { rows: whole, count: found.count });
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
    const documents = (call.transaction ?? call.store).collection(collection);
    const document = await refuseConflicts(documents.insert(fields));
    const location = `${path}/${document.id}`;
    return documentAnswer(resource, call, document, { status: 201, headers: { location } });
  },

  // `null` means that a field is not given.
  update: (call) =>
    change(call, (current, sent) => {
      const given = Object.entries(sent).filter(([, value]) => value !== null);
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

  async restore(call) {
    const document = await writeTogether(call, async (transaction) => {
      const documents = transaction.collection(collection);
      const where = { id: call.params["id"] ?? "" };
      const [current] = await documents.find({ where, deleted: "only", limit: 1 });
      if (!current) throw notFound(resource.name);
      requirePreconditions(call.request, tagOf(current, call));
      const restored = await refuseConflicts(documents.restore(current.id));
      if (!restored) throw notFound(resource.name);
      return restored;
    });
    return documentAnswer(resource, call, document);
  },
};

/** Merges what was sent into the document and validates the whole. */
async function change(
  call: ResourceCall,
  merge: (current: Fields, sent: Fields) => unknown,
): Promise<Response> {
  const sent = without(call.body, readOnly);
  const document = await changeDocument(resource, call, {
    operation: "update",
    isTogether: false,
    async change({ current, documents }) {
      const whole = merge(view(current, resource.fields), sent);
      const valid = await validateChange(resource, call, { current, whole });
      const fields = { ...hiddenFields(resource, current), ...valid };
      const condition = { ifVersion: current.version };
      return refuseConflicts(documents.replace(current.id, fields, condition));
    },
  });
  return documentAnswer(resource, call, document);
}
