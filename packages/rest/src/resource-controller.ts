import { InputError, type Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import type { Account } from "./account.ts";
import { notFound, writeConditionally } from "./conditional-write.ts";
import { etagOf, noneMatchHolds, requirePreconditions } from "./etag.ts";
import { fieldError } from "./field-error.ts";
import { parseListQuery } from "./list-query.ts";
import { mergePatch } from "./merge-patch.ts";
import { pageLinks } from "./page-links.ts";
import { badFields } from "./problem.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import type { Fields, Resource } from "./resource.ts";
import type { BodyFields, Call } from "./route.ts";
import {
  acceptsNull,
  propertiesOf,
  validate,
  type JsonSchema,
  type OutputOf,
  type Schema,
} from "./schema.ts";
import { view } from "./view.ts";

/** What a controller's handlers are called with. */
export type ResourceCall<Body = BodyFields> = Call<Body, Account | undefined>;

/**
 * Handlers of the operations of a resource. Replace one by spreading: `{ ...controller, create }`. The access rule,
 * that of the owner too, has been applied before a handler is called.
 */
export interface ResourceController<S extends Schema = Schema> {
  readonly list: (call: ResourceCall) => Promise<Response>;
  readonly show: (call: ResourceCall) => Promise<Response>;
  readonly create: (call: ResourceCall<OutputOf<S>>) => Promise<Response>;
  /** Changes the given fields and keeps the others. */
  readonly update: (call: ResourceCall) => Promise<Response>;
  /** Applies a JSON Merge Patch (RFC 7396). */
  readonly patch: (call: ResourceCall) => Promise<Response>;
  readonly remove: (call: ResourceCall) => Promise<Response>;
}

/** Makes the handlers of a resource. */
export function createResourceController<S extends Schema>(
  resource: Resource<S>,
): ResourceController<S> {
  const { collection, list: rules, owner, path, schema } = resource;
  const shown = rules.selectable;
  const named = new Set(resource.fields);
  const nullable = nullableFields(resource.input);

  return {
    async list({ query, store }) {
      const { q, page, limit, sort, fields = shown } = parseListQuery(query, rules);
      const documents = store.collection(collection);
      const [found, total] = await Promise.all([
        documents.find({ q, sort, limit, offset: (page - 1) * limit }),
        documents.count({ q }),
      ]).catch(refuseSearch);
      const headers = {
        "x-total-count": String(total),
        link: pageLinks(path, query, { page, limit, total }),
      };
      return json(
        found.map((document) => view(document, fields)),
        { headers },
      );
    },

    async show({ params, request, store }) {
      const document = await store.collection(collection).get(idOf(params));
      if (!document) throw notFound();
      const etag = etagOf(document.version);
      requirePreconditions(request, etag);
      if (noneMatchHolds(request.headers.get("if-none-match"), etag)) {
        return empty(304, { headers: { etag } });
      }
      return json(view(document, shown), { headers: { etag } });
    },

    async create({ body, store, user }) {
      const fields: Fields = { ...(body as Fields) };
      if (owner !== undefined && user) fields[owner] = user.id;
      const document = await refuseConflicts(store.collection(collection).insert(fields));
      return json(view(document, shown), {
        status: 201,
        headers: { etag: etagOf(document.version), location: `${path}/${document.id}` },
      });
    },

    update(call) {
      return change(call, (current, sent) => ({ ...current, ...withoutNulls(sent) }));
    },

    patch(call) {
      return change(call, (current, sent) => mergePatch(current, sent));
    },

    async remove({ params, request, store }) {
      await writeConditionally(
        { store, collection, id: idOf(params), request },
        async ({ id, version }, documents) =>
          (await documents.remove(id, { ifVersion: version })) || undefined,
      );
      return empty();
    },
  };

  /** Merges what was sent into the document and validates the whole, so that every rule of the schema holds. */
  async function change(
    { body, params, request, store }: ResourceCall,
    merge: (current: Fields, sent: BodyFields) => unknown,
  ): Promise<Response> {
    const document = await writeConditionally(
      { store, collection, id: idOf(params), request },
      async (current, documents) => {
        const merged = merge(view(current, resource.fields), body);
        const fields = { ...hidden(current), ...((await validate(schema, merged)) as Fields) };
        const condition = { ifVersion: current.version };
        return refuseConflicts(documents.replace(current.id, fields, condition));
      },
    );
    return json(view(document, shown), { headers: { etag: etagOf(document.version) } });
  }

  /** What the store keeps beside the fields of the schema: the owner, and what other handlers have set. */
  function hidden(document: Stored<Fields>): Fields {
    const {
      id: _id,
      version: _version,
      createdAt: _created,
      updatedAt: _updated,
      ...rest
    } = document;
    return Object.fromEntries(Object.entries(rest).filter(([name]) => !named.has(name)));
  }

  /** In an update, `null` means a field that is not given, unless the schema knows `null`. */
  function withoutNulls(sent: BodyFields): Fields {
    const given = Object.entries(sent).filter(
      ([name, value]) => value !== null || nullable.has(name),
    );
    return Object.fromEntries(given);
  }
}

/** All but the search was checked before, and only the store knows how many words it can search for. */
function refuseSearch(error: unknown): never {
  if (!(error instanceof InputError)) throw error;
  throw badFields([fieldError("q", "invalid", error.message)]);
}

/** Names the fields for which a schema accepts `null`. */
function nullableFields(schema: JsonSchema): ReadonlySet<string> {
  const properties = Object.entries(propertiesOf(schema, "a resource"));
  return new Set(properties.filter(([, property]) => acceptsNull(property)).map(([name]) => name));
}

function idOf(params: Readonly<Record<string, string>>): string {
  return params["id"] ?? "";
}
