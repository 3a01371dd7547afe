import { createContext } from "@fetchwork/http";
import type { Api, Resource } from "@fetchwork/rest";

/**
 * A document with a separate text in each field that can have one, so that it is known again
 * wherever it shows.
 */
export interface Marked {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * Names of those that follow from others when they are shown: no parameter finds or sorts what is
   * not stored.
   */
  readonly derived?: readonly string[];
}

/** One caller: its token, and the fields of a document that it may see by any way. */
export interface MatrixCaller {
  readonly name: string;
  readonly token: string | undefined;
  maySee(resource: Resource, id: string): readonly string[];
}

/** What is tried. */
export interface Matrix {
  readonly api: Api;
  /** Resources with their documents. */
  readonly documents: ReadonlyMap<Resource, readonly Marked[]>;
  readonly callers: readonly MatrixCaller[];
}

/** What callers saw, for tests that something was tried at all. */
export interface MatrixResult {
  /** `bob reads email of user ada by GET /reviews?populate=by`. */
  readonly leaks: readonly string[];
  /** `bob name user ada`: fields that were seen and may be. */
  readonly seen: ReadonlySet<string>;
  readonly requests: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
}

interface Probe {
  readonly resource: Resource;
  readonly field: string;
  /**
   * Whether it tells something only by what it finds, as a search does that looks into other
   * fields.
   */
  readonly isSearch: boolean;
}

interface Way {
  readonly path: string;
  /** Field whose values the parameters ask about; none where they only choose what is shown. */
  readonly probe?: Probe | undefined;
}

/**
 * Tries every GET of an API as every caller: plain, with each path of `populate`, each name in
 * `fields` and `sort`, each filter, searches for the text of each field, and cursors. Reports each
 * field that a caller sees, or may ask about, without being allowed to see it.
 */
export async function tryMatrix({ api, callers, documents }: Matrix): Promise<MatrixResult> {
  const leaks = new Set<string>();
  const seen = new Set<string>();
  const ways = waysOf(api, documents);
  for (const caller of callers) {
    for (const way of ways) await tryWay(caller, way);
  }
  return { leaks: [...leaks], seen, requests: ways.length * callers.length };

  async function tryWay(caller: MatrixCaller, { path, probe }: Way): Promise<void> {
    const request = new Request(new URL(path, "http://localhost"), {
      headers: caller.token === undefined ? {} : { authorization: `Bearer ${caller.token}` },
    });
    const response = await api.handler(request, createContext(request));
    const body = await response.text();
    if (response.status >= 500) leaks.add(`${caller.name} gets ${response.status} by GET ${path}`);
    if (response.status !== 200) return;
    const text = `${body} ${decodedCursors(response.headers.get("link") ?? "")}`;
    for (const [resource, marked] of documents) {
      for (const { id, fields, derived } of marked) {
        const allowed = caller.maySee(resource, id);
        for (const [field, value] of Object.entries(fields)) {
          const isMarked = typeof value === "string" && value.includes(marker);
          if (isMarked && text.includes(value))
            note(caller, { resource, id, field, allowed, path });
        }
        for (const field of fieldsShown(JSON.parse(body), id)) {
          const isOwn = Object.hasOwn(fields, field) || isMeta(field);
          if (isOwn) note(caller, { resource, id, field, allowed, path });
        }
        if (
          probe?.resource === resource &&
          (probe.isSearch || derived?.includes(probe.field) !== true) &&
          !allowed.includes(probe.field) &&
          tells(probe, body, id)
        ) {
          leaks.add(
            `${caller.name} asks about ${probe.field} of ${resource.name} ${id} by GET ${path}`,
          );
        }
      }
    }
  }

  function note(
    { name }: MatrixCaller,
    found: {
      readonly resource: Resource;
      readonly id: string;
      readonly field: string;
      readonly allowed: readonly string[];
      readonly path: string;
    },
  ): void {
    const { allowed, field, id, path, resource } = found;
    if (allowed.includes(field)) seen.add(`${name} ${field} ${resource.name} ${id}`);
    else leaks.add(`${name} reads ${field} of ${resource.name} ${id} by GET ${path}`);
  }
}

/** Part of every marked text. */
export const marker = "canary";

function waysOf(
  { openApi }: Api,
  documents: ReadonlyMap<Resource, readonly Marked[]>,
): readonly Way[] {
  const ids = [...documents.values()].flat().map(({ id }) => id);
  const ways: Way[] = [];
  for (const [template, methods] of Object.entries(openApi.paths)) {
    const operation = methods["get"] as { readonly parameters?: readonly Parameter[] } | undefined;
    if (!operation) continue;
    const resource = [...documents.keys()].find(({ path }) => template.startsWith(path));
    const paths = template.includes("{")
      ? ["me", ...ids].map((id) => template.replace(/\{\w+\}/, id))
      : [template];
    const queries = queriesOf(operation.parameters ?? [], resource, documents);
    for (const path of paths) {
      ways.push({ path });
      for (const { query, field } of queries) {
        const isSearch = query.startsWith("q=");
        const probe = resource && field !== undefined ? { resource, field, isSearch } : undefined;
        ways.push({ path: `${path}?${query}`, probe });
      }
    }
  }
  return ways;
}

function queriesOf(
  parameters: readonly Parameter[],
  resource: Resource | undefined,
  documents: ReadonlyMap<Resource, readonly Marked[]>,
): readonly { readonly query: string; readonly field?: string | undefined }[] {
  const inQuery = parameters.filter((one) => one.in === "query");
  const marked = (resource && documents.get(resource)) ?? [];
  const fields = [...new Set(marked.flatMap((one) => Object.keys(one.fields)))];
  return inQuery.flatMap(({ name, description = "" }) => {
    const named = description.split(": ").at(-1)?.split(", ") ?? [];
    if (name === "populate")
      return [...named, named.join(",")].map((one) => ({ query: `populate=${one}` }));
    if (name === "fields") return [...fields, "id"].map((one) => ({ query: `fields=${one}` }));
    if (name === "sort") {
      return [...fields, "createdAt", "updatedAt"].flatMap((field) => [
        { query: `sort=${field}`, field },
        { query: `sort=-${field}&after=&limit=1`, field },
      ]);
    }
    if (name === "after") return [{ query: "after=&limit=1" }];
    if (name === "q") {
      return marked.flatMap((one) =>
        Object.entries(one.fields).flatMap(([field, value]) =>
          typeof value === "string" && value.includes(marker)
            ? [{ query: `q=${encodeURIComponent(value)}`, field }]
            : [],
        ),
      );
    }
    const field = fields.find((one) => name === one || name.startsWith(`${one}[`));
    if (field === undefined) return [];
    return marked.map((one) => ({
      query: `${name}=${encodeURIComponent(String(one.fields[field]))}`,
      field,
    }));
  });
}

function tells({ isSearch }: Probe, body: string, id: string): boolean {
  return !isSearch || fieldsShown(JSON.parse(body), id).length > 0;
}

/** Names of what is shown of a document, wherever in an answer it is. */
function fieldsShown(value: unknown, id: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap((one) => fieldsShown(one, id));
  if (!("id" in value) || value.id !== id) return inside;
  // `null` tells nothing of what there is.
  const shown = Object.entries(value).filter(([, one]) => one !== null);
  return [...shown.map(([name]) => name), ...inside];
}

/** Cursors are not encrypted, so what is in them is seen. */
function decodedCursors(link: string): string {
  return [...link.matchAll(/after=([\w%-]+)/g)]
    .map(([, cursor = ""]) => Buffer.from(decodeURIComponent(cursor), "base64url").toString())
    .join(" ");
}

function isMeta(field: string): boolean {
  return ["id", "createdAt", "updatedAt"].includes(field);
}
