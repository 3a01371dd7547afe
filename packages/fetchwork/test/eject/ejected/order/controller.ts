import { empty, json } from "@fetchwork/http";
import {
  type Fields,
  type Resource,
  type ResourceCall,
  type ResourceController,
} from "@fetchwork/rest";
import {
  afterChange,
  changeDocument,
  checkReferences,
  createPageFinder,
  createQueryReader,
  documentAnswer,
  hiddenFields,
  mergePatch,
  notFound,
  pageAnswer,
  populate,
  readPopulate,
  readShownFields,
  refuseConflicts,
  releaseReferences,
  requireAccess,
  requirePreconditions,
  requireTrash,
  showDocument,
  validateChange,
  view,
  withOwners,
  without,
  writeTogether,
} from "@fetchwork/rest/handlers";
import { order as model } from "./model.ts";

// Written out by `fetchwork eject`. The routes have applied access rules and validated bodies before they come here.

const resource: Resource<typeof model.schema> = model;
const { collection, hooks, nullable, path, present, readOnly, reserved, schema, tagOf } = resource;
const readList = createQueryReader(resource);
const findPage = createPageFinder(resource);

export const orderController: ResourceController<typeof schema> = {
  async list(call) {
    const tree = readPopulate(resource, call.query);
    const query = readList(call);
    if (query.trash !== undefined) requireTrash(resource, call);
    const limits = await hooks.beforeList?.({ call });
    const found = await findPage(call, query, limits);
    const { documents } = found;
    const shown = await withOwners(
      call,
      {
        resource,
        documents,
        rows: documents.map((document) => present(document, call, query.fields)),
      },
      query.fields,
    );
    const changed = await hooks.afterList?.({ call, documents, rows: shown });
    const rows = changed ?? shown;
    const whole = await populate(call, { resource, documents, rows }, tree);
    return pageAnswer(call, found, { rows: whole, count: found.count });
  },

  async show(call) {
    const tree = readPopulate(resource, call.query);
    const fields = readShownFields(resource, call);
    const id = call.params["id"] ?? "";
    await hooks.beforeShow?.({ call, id });
    const document = call.document ?? (await call.store.collection(collection).get(id));
    if (!document) throw notFound(resource.name);
    const { etag, shown } = await showDocument(resource, call, document, fields);
    requirePreconditions(call.request, etag);
    const changed = await hooks.afterShow?.({ call, document, shown });
    const rows = [changed ?? shown];
    const [row] = await populate(call, { resource, documents: [document], rows }, tree);
    return json(row, { headers: { etag } });
  },

  async create(call) {
    const fields: Fields = { ...without(call.body, reserved) };
    if (call.user) fields["maker"] = call.user.id;
    const document = await writeTogether(call, async (transaction) => {
      const changed = (await hooks.beforeCreate?.({ call, transaction, fields })) ?? fields;
      await checkReferences(resource, transaction, changed);
      return refuseConflicts(transaction.collection(collection).insert(changed));
    });
    await afterChange(call, () => hooks.afterCreate?.({ call, document }));
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
    const document = await changeDocument(resource, call, {
      operation: "remove",
      isTogether: true,
      async change({ current, documents, transaction }) {
        await hooks.beforeRemove?.({ call, transaction, current });
        await releaseReferences(call.resources, transaction, { resource, id: current.id });
        const isGone = await documents.remove(current.id, { ifVersion: current.version });
        return isGone ? current : undefined;
      },
    });
    await afterChange(call, () => hooks.afterRemove?.({ call, document }));
    return empty();
  },

  async restore(call) {
    const document = await writeTogether(call, async (transaction) => {
      const documents = transaction.collection(collection);
      const where = { id: call.params["id"] ?? "" };
      const [current] = await documents.find({ where, deleted: "only", limit: 1 });
      if (!current) throw notFound(resource.name);
      await requireAccess(resource, "restore", { call, document: current });
      requirePreconditions(call.request, tagOf(current, call));
      await hooks.beforeRestore?.({ call, transaction, current });
      await checkReferences(resource, transaction, current);
      const restored = await refuseConflicts(documents.restore(current.id));
      if (!restored) throw notFound(resource.name);
      return restored;
    });
    await afterChange(call, () => hooks.afterRestore?.({ call, document }));
    return documentAnswer(resource, call, document);
  },
};

/** Merges what was sent into the document and validates the whole. */
async function change(
  call: ResourceCall,
  merge: (current: Fields, sent: Fields) => unknown,
): Promise<Response> {
  const sent = without(call.body, readOnly);
  const { before, document } = await changeDocument(resource, call, {
    operation: "update",
    isTogether: true,
    async change({ current, documents, transaction }) {
      const whole = merge(view(current, resource.fields), sent);
      const valid = await validateChange(resource, call, { current, whole });
      const fields = { ...hiddenFields(resource, current), ...without(valid, reserved) };
      const event = { call, transaction, current, fields };
      const changed = (await hooks.beforeUpdate?.(event)) ?? fields;
      await checkReferences(resource, transaction, changed, current);
      const condition = { ifVersion: current.version };
      const replaced = await refuseConflicts(documents.replace(current.id, changed, condition));
      return replaced && { before: current, document: replaced };
    },
  });
  await afterChange(call, () => hooks.afterUpdate?.({ call, before, document }));
  return documentAnswer(resource, call, document);
}
