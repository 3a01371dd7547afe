import { literal } from "../add/source-text.ts";
import type { Features } from "./features.ts";

/** Joins the lines that there are. */
function lines(...all: readonly (string | false)[]): string {
  return all.filter((line) => line !== false).join("\n");
}

/** Writes the handler `list`. */
export function listHandler(features: Features): string {
  const { hooks, populates, shape, softDelete } = features;
  const [before, after] = [hooks.has("beforeList"), hooks.has("afterList")];
  const limits = before ? ", limits" : "";
  const shown = after ? "shown" : "rows";
  const rows = populates ? "whole" : after ? "changed ?? shown" : "rows";
  const answer = shape === "rows" ? `{ rows: ${rows}, count: found.count }` : rows;
  return lines(
    "  async list(call) {",
    populates && "    const tree = readPopulate(resource, call.query);",
    "    const query = readList(call);",
    softDelete && "    if (query.trash !== undefined) requireTrash(resource, call);",
    before && "    const limits = await hooks.beforeList?.({ call });",
    `    const found = await findPage(call, query${limits});`,
    ...rowsLines(features, shown),
    after && "    const changed = await hooks.afterList?.({ call, documents, rows: shown });",
    populates && after && "    const rows = changed ?? shown;",
    populates && "    const whole = await populate(call, { resource, documents, rows }, tree);",
    `    return pageAnswer(call, found, ${answer.replace("rows: rows", "rows")});`,
    "  },",
  );
}

/** Writes how the documents of a page become rows. */
function rowsLines(
  { hooks, populates, showsOwner }: Features,
  shown: string,
): readonly (string | false)[] {
  const isNamed = populates || hooks.has("afterList") || showsOwner;
  const rows = `${isNamed ? "" : "found."}documents.map((document) => present(document, call, query.fields))`;
  const named = isNamed && "    const { documents } = found;";
  if (!showsOwner) return [named, `    const ${shown} = ${rows};`];
  return [
    named,
    `    const ${shown} = await withOwners(`,
    "      call,",
    "      {",
    "        resource,",
    "        documents,",
    `        rows: ${rows},`,
    "      },",
    "      query.fields,",
    "    );",
  ];
}

/** Writes the handler `show`. */
export function showHandler({ hooks, populates }: Features): string {
  const [before, after] = [hooks.has("beforeShow"), hooks.has("afterShow")];
  const tag = 'noneMatchHolds(call.request.headers.get("if-none-match"), etag)';
  return lines(
    "  async show(call) {",
    populates && "    const tree = readPopulate(resource, call.query);",
    "    const fields = readShownFields(resource, call);",
    '    const id = call.params["id"] ?? "";',
    before && "    await hooks.beforeShow?.({ call, id });",
    "    const document = call.document ?? (await call.store.collection(collection).get(id));",
    "    if (!document) throw notFound(resource.name);",
    "    const { etag, shown } = await showDocument(resource, call, document, fields);",
    "    requirePreconditions(call.request, etag);",
    // What a hook or a relation shows may follow from more than the version.
    !after && `    if (${populates ? "!tree && " : ""}${tag}) {`,
    !after && "      return empty(304, { headers: { etag } });",
    !after && "    }",
    after && "    const changed = await hooks.afterShow?.({ call, document, shown });",
    populates && `    const rows = [${after ? "changed ?? shown" : "shown"}];`,
    populates &&
      "    const [row] = await populate(call, { resource, documents: [document], rows }, tree);",
    `    return json(${populates ? "row" : after ? "changed ?? shown" : "shown"}, { headers: { etag } });`,
    "  },",
  );
}

/** Writes the handler `create`. */
export function createHandler({ hooks, owner, refers, reserves }: Features): string {
  const [before, after] = [hooks.has("beforeCreate"), hooks.has("afterCreate")];
  const together = before || refers;
  const body = reserves ? "...without(call.body, reserved)" : "...call.body";
  const stored = before ? "changed" : "fields";
  return lines(
    "  async create(call) {",
    `    const fields: Fields = { ${body} };`,
    owner !== undefined && `    if (call.user) fields[${literal(owner)}] = call.user.id;`,
    !together && "    const documents = (call.transaction ?? call.store).collection(collection);",
    !together && "    const document = await refuseConflicts(documents.insert(fields));",
    together && "    const document = await writeTogether(call, async (transaction) => {",
    before &&
      "      const changed = (await hooks.beforeCreate?.({ call, transaction, fields })) ?? fields;",
    refers && `      await checkReferences(resource, transaction, ${stored});`,
    together &&
      `      return refuseConflicts(transaction.collection(collection).insert(${stored}));`,
    together && "    });",
    after && "    await afterChange(call, () => hooks.afterCreate?.({ call, document }));",
    "    const location = `${path}/${document.id}`;",
    "    return documentAnswer(resource, call, document, { status: 201, headers: { location } });",
    "  },",
  );
}

/** Writes the handlers `update` and `patch`, and the function that they share. */
export function updateHandlers(features: Features): {
  readonly update: string;
  readonly patch: string;
  readonly change: string;
} {
  const given = features.knowsNull
    ? lines(
        "      const given = Object.entries(sent).filter(",
        "        ([name, value]) => value !== null || nullable.has(name),",
        "      );",
      )
    : "      const given = Object.entries(sent).filter(([, value]) => value !== null);";
  const update = lines(
    features.knowsNull
      ? "  // `null` means that a field is not given, unless the schema knows `null`."
      : "  // `null` means that a field is not given.",
    "  update: (call) =>",
    "    change(call, (current, sent) => {",
    given,
    "      return { ...current, ...Object.fromEntries(given) };",
    "    }),",
  );
  const patch = lines(
    "  // JSON Merge Patch (RFC 7396): `null` takes the field away.",
    "  patch: (call) => change(call, mergePatch),",
  );
  return { update, patch, change: changeFunction(features) };
}

function changeFunction({ hooks, readOnly, refers, reserves }: Features): string {
  const [before, after] = [hooks.has("beforeUpdate"), hooks.has("afterUpdate")];
  const together = before || refers;
  const stored = before ? "changed" : "fields";
  const replace = `refuseConflicts(documents.replace(current.id, ${stored}, condition))`;
  return lines(
    "",
    "/** Merges what was sent into the document and validates the whole. */",
    "async function change(",
    "  call: ResourceCall,",
    "  merge: (current: Fields, sent: Fields) => unknown,",
    "): Promise<Response> {",
    readOnly && "  const sent = without(call.body, readOnly);",
    after
      ? "  const { before, document } = await changeDocument(resource, call, {"
      : "  const document = await changeDocument(resource, call, {",
    '    operation: "update",',
    `    isTogether: ${together},`,
    `    async change({ current, documents${together ? ", transaction" : ""} }) {`,
    `      const whole = merge(view(current, resource.fields), ${readOnly ? "sent" : "call.body"});`,
    "      const valid = await validateChange(resource, call, { current, whole });",
    `      const fields = { ...hiddenFields(resource, current), ...${reserves ? "without(valid, reserved)" : "valid"} };`,
    before && "      const event = { call, transaction, current, fields };",
    before && "      const changed = (await hooks.beforeUpdate?.(event)) ?? fields;",
    refers && `      await checkReferences(resource, transaction, ${stored}, current);`,
    "      const condition = { ifVersion: current.version };",
    !after && `      return ${replace};`,
    after && `      const replaced = await ${replace};`,
    after && "      return replaced && { before: current, document: replaced };",
    "    },",
    "  });",
    after && "  await afterChange(call, () => hooks.afterUpdate?.({ call, before, document }));",
    "  return documentAnswer(resource, call, document);",
    "}",
    "",
  );
}

/** Writes the handler `remove`. */
export function removeHandler({ hooks }: Features): string {
  const [before, after] = [hooks.has("beforeRemove"), hooks.has("afterRemove")];
  const release =
    "await releaseReferences(call.resources, transaction, { resource, id: current.id });";
  return lines(
    "  async remove(call) {",
    !before && "    const isReferredTo = call.resources.referrersOf(resource).length > 0;",
    `    ${after ? "const document = " : ""}await changeDocument(resource, call, {`,
    '      operation: "remove",',
    `      isTogether: ${before ? "true" : "isReferredTo"},`,
    "      async change({ current, documents, transaction }) {",
    before && "        await hooks.beforeRemove?.({ call, transaction, current });",
    before && `        ${release}`,
    !before && "        if (isReferredTo && transaction) {",
    !before && `          ${release}`,
    !before && "        }",
    "        const isGone = await documents.remove(current.id, { ifVersion: current.version });",
    "        return isGone ? current : undefined;",
    "      },",
    "    });",
    after && "    await afterChange(call, () => hooks.afterRemove?.({ call, document }));",
    "    return empty();",
    "  },",
  );
}

/** Writes the handler `restore`. */
export function restoreHandler({ asksToRestore, hooks, refers }: Features): string {
  const [before, after] = [hooks.has("beforeRestore"), hooks.has("afterRestore")];
  return lines(
    "  async restore(call) {",
    "    const document = await writeTogether(call, async (transaction) => {",
    "      const documents = transaction.collection(collection);",
    '      const where = { id: call.params["id"] ?? "" };',
    '      const [current] = await documents.find({ where, deleted: "only", limit: 1 });',
    "      if (!current) throw notFound(resource.name);",
    asksToRestore && '      await requireAccess(resource, "restore", { call, document: current });',
    "      requirePreconditions(call.request, tagOf(current, call));",
    before && "      await hooks.beforeRestore?.({ call, transaction, current });",
    refers && "      await checkReferences(resource, transaction, current);",
    "      const restored = await refuseConflicts(documents.restore(current.id));",
    "      if (!restored) throw notFound(resource.name);",
    "      return restored;",
    "    });",
    after && "    await afterChange(call, () => hooks.afterRestore?.({ call, document }));",
    "    return documentAnswer(resource, call, document);",
    "  },",
  );
}
