import type { EjectedDefinition } from "./read-definition.ts";

/** What a list that can show removed documents needs besides. */
const trashCheck = `
/** Removed documents are for admins, and for the holder of the master key where the list needs it. */
function requireTrash(trash: string | undefined, user: ResourceCall["user"]): void {
  if (trash === undefined || access.list === "master" || user?.role === "admin") return;
  if (user) throw forbidden("only admins see what was removed");
  const headers = { "www-authenticate": 'Bearer realm="api"' };
  throw new Problem(401, { detail: "an access token is required", headers });
}
`;

/** Writes `controller.ts` with every handler in full. */
export function ejectedController(
  camel: string,
  { owner, list, softDelete }: EjectedDefinition,
): string {
  const creator =
    owner === undefined
      ? "    const fields = { ...body };\n"
      : `    const fields = { ...body, ${owner}: user?.id };\n`;
  const whole =
    owner === undefined
      ? ""
      : `      const whole = { ...fields, ${owner}: current["${owner}"] };\n`;
  const kept = owner === undefined ? "fields" : "whole";
  const [taken, wanted] = softDelete ? [", trash", ", deleted"] : ["", ""];
  const trash = softDelete
    ? `    requireTrash(trash, user);
    const deleted = trash === undefined ? undefined : trash === "only" ? "only" : "include";
`
    : "";
  const shape = list === "rows" ? "{ rows, count }" : "rows";
  return `import { InputError } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import {
  badFields,
  createListReader,
  createResourceController,
  cursorLinks,
  etagOf,
  fieldError,
${softDelete ? "  forbidden,\n" : ""}  mergePatch,
  noneMatchHolds,
  notFound,
  pageLinks,
${softDelete ? "  Problem,\n" : ""}  refuseConflicts,
  requirePreconditions,
  validate,
  view,
  writeConditionally,
  type Fields,
  type ResourceCall,
  type ResourceController,
} from "@fetchwork/rest";
import { ${camel} } from "./model.ts";

// Written out by \`fetchwork eject\`. The routes have applied access rules and validated bodies before they come here.

const { ${softDelete ? "access, " : ""}collection, list: rules, path, present, schema } = ${camel};
const readList = createListReader(rules);

export const ${camel}Controller: ResourceController<typeof schema> = {
  ...createResourceController(${camel}),

  async list({ query, store${softDelete ? ", user" : ""} }) {
    const { q, where, sort, page, limit, after, fields${taken} } = readList(query);
${trash}    const documents = store.collection(collection);
    const count = await documents.count({ q, where${wanted} }).catch(refuseSearch);
    const headers: Record<string, string> = { "x-total-count": String(count) };
    let found;
    if (after === undefined) {
      ${
        softDelete
          ? "const offset = (page - 1) * limit;\n      found = await documents.find({ q, where, sort, limit, offset, deleted });"
          : "found = await documents.find({ q, where, sort, limit, offset: (page - 1) * limit });"
      }
      headers["link"] = pageLinks(path, query, { page, limit, total: count });
    } else {
      const { items, next } = await documents
        .page({ q, where, sort, limit, after: after || undefined${wanted} })
        .catch(refuseCursor);
      found = items;
      const place = { path, names: { page: "page", limit: "limit", after: "after" } };
      headers["link"] = cursorLinks(place, query, { limit, next });
    }
    const rows = found.map((document) => present(document, fields));
    return json(${shape}, { headers });
  },

  async show({ document, params, request, store }) {
    const found = document ?? (await store.collection(collection).get(params["id"] ?? ""));
    if (!found) throw notFound();
    const etag = etagOf(found.version);
    requirePreconditions(request, etag);
    if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
      return empty(304, { headers: { etag } });
    }
    return json(present(found), { headers: { etag } });
  },

  async create({ body, store, transaction${owner === undefined ? "" : ", user"} }) {
${creator}    const documents = (transaction ?? store).collection(collection);
    const created = await refuseConflicts(documents.insert(fields));
    return json(present(created), {
      status: 201,
      headers: { etag: etagOf(created.version), location: \`\${path}/\${created.id}\` },
    });
  },

  // \`null\` in an update means that the field is not given.
  update: (call) =>
    change(call, (current, sent) => {
      const given = Object.entries(sent).filter(([, value]) => value !== null);
      return { ...current, ...Object.fromEntries(given) };
    }),

  // JSON Merge Patch (RFC 7396): \`null\` takes the field away.
  patch: (call) => change(call, mergePatch),

  async remove({ document, params, request, store, transaction }) {
    const id = params["id"] ?? "";
    await writeConditionally(
      { store, transaction, collection, id, request, current: document },
      async ({ version }, documents) =>
        (await documents.remove(id, { ifVersion: version })) || undefined,
    );
    return empty();
  },
};

/** Merges what was sent into the document and validates the whole. */
async function change(
  { body, document, params, request, store, transaction }: ResourceCall,
  merge: (current: Fields, sent: Fields) => unknown,
): Promise<Response> {
  const id = params["id"] ?? "";
  const changed = await writeConditionally(
    { store, transaction, collection, id, request, current: document },
    async (current, documents) => {
      const fields = await validate(schema, merge(view(current, ${camel}.fields), body));
${whole}      const condition = { ifVersion: current.version };
      return refuseConflicts(documents.replace(id, ${kept}, condition));
    },
  );
  return json(present(changed), { headers: { etag: etagOf(changed.version) } });
}

function refuseSearch(error: unknown): never {
  if (!(error instanceof InputError)) throw error;
  throw badFields([fieldError("q", "invalid", error.message)]);
}

function refuseCursor(error: unknown): never {
  if (!(error instanceof InputError)) throw error;
  throw badFields([fieldError("after", "invalid", "after is no cursor of this list")]);
}
${softDelete ? trashCheck : ""}`;
}
