import { UniqueError, type Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { requireOwner } from "./access.ts";
import type { Account } from "./account.ts";
import { notFound, writeConditionally } from "./conditional-write.ts";
import { etagOf, noneMatchHolds } from "./etag.ts";
import { fieldError } from "./field-error.ts";
import { parseListQuery } from "./list-query.ts";
import { mergePatch } from "./merge-patch.ts";
import { pageLinks } from "./page-links.ts";
import { Problem } from "./problem.ts";
import type { Fields, Resource } from "./resource.ts";
import type { BodyFields, Call } from "./route.ts";
import { validate, type OutputOf, type Schema } from "./schema.ts";
import { view } from "./view.ts";

/** What a controller's handlers are called with. */
export type ResourceCall<Body = BodyFields> = Call<Body, Account | undefined>;

/** Handlers of the operations of a resource. Replace one by spreading: `{ ...controller, create }`. */
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
  const { access, collection, list: rules, owner } = resource;
  const shown = rules.selectable;

  return {
    async list({ query, request, store }) {
      const { q, page, limit, sort, fields = shown } = parseListQuery(query, rules);
      const documents = store.collection(collection);
      const [found, total] = await Promise.all([
        documents.find({ q, sort, limit, offset: (page - 1) * limit }),
        documents.count({ q }),
      ]);
      const headers = {
        "x-total-count": String(total),
        link: pageLinks(pathOf(request.url), query, { page, limit, total }),
      };
      return json(
        found.map((document) => view(document, fields)),
        { headers },
      );
    },

    async show({ params, request, store, user }) {
      const document = await store.collection(collection).get(idOf(params));
      if (!document) throw notFound();
      if (access.show === "owner") checkOwner(user, document);
      const headers = { etag: etagOf(document.version) };
      if (noneMatchHolds(request.headers.get("if-none-match"), document.version)) {
        return empty(304, { headers });
      }
      return json(view(document, shown), { headers });
    },

    async create({ body, request, store, user }) {
      const fields: Fields = { ...(body as Fields) };
      if (owner !== undefined && user) fields[owner] = user.id;
      const document = await conflictAware(store.collection(collection).insert(fields));
      return json(view(document, shown), {
        status: 201,
        headers: {
          etag: etagOf(document.version),
          location: `${pathOf(request.url)}/${document.id}`,
        },
      });
    },

    update(call) {
      return change(call, (current, sent) => ({ ...current, ...withoutNulls(sent) }));
    },

    patch(call) {
      return change(call, (current, sent) => mergePatch(current, sent));
    },

    async remove({ params, request, store, user }) {
      const documents = store.collection(collection);
      await writeConditionally(request.headers.get("if-match"), {
        read: () => documents.get(idOf(params)),
        async write(current) {
          if (access.remove === "owner") checkOwner(user, current);
          const removed = await documents.remove(current.id, { ifVersion: current.version });
          return removed ? true : undefined;
        },
      });
      return empty();
    },
  };

  /** Merges what was sent into the document and validates the whole, so that every rule of the schema holds. */
  async function change(
    { body, params, request, store, user }: ResourceCall,
    merge: (current: Fields, sent: BodyFields) => unknown,
  ): Promise<Response> {
    const documents = store.collection(collection);
    const document = await writeConditionally(request.headers.get("if-match"), {
      read: () => documents.get(idOf(params)),
      async write(current) {
        if (access.update === "owner") checkOwner(user, current);
        const merged = merge(view(current, resource.fields), body);
        const fields: Fields = { ...((await validate(resource.schema, merged)) as Fields) };
        if (owner !== undefined) fields[owner] = current[owner];
        const condition = { ifVersion: current.version };
        return conflictAware(documents.replace(current.id, fields, condition));
      },
    });
    return json(view(document, shown), { headers: { etag: etagOf(document.version) } });
  }

  function checkOwner(user: Account | undefined, document: Stored<Fields>): void {
    if (owner !== undefined && user) requireOwner(user, document[owner]);
  }
}

/** Answers 409 where a unique field is taken. */
export async function conflictAware<R>(write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    const errors = error.fields.map((field) =>
      fieldError(field, "unique", `${field} already registered`),
    );
    throw new Problem(409, { errors });
  }
}

/** In an update, `null` means a field that is not given, as in a form it cannot be given. */
function withoutNulls(sent: BodyFields): Fields {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
}

function idOf(params: Readonly<Record<string, string>>): string {
  return params["id"] ?? "";
}

function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}
