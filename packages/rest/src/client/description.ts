import { isObject } from "@fetchwork/kit";
import { ClientError } from "./errors.ts";

/** Part of an OpenAPI document that the client needs: `api.openApi`, `/openapi.json` or a file. */
export interface ApiDescription {
  readonly paths: Readonly<Record<string, unknown>>;
}

/** One operation, ready to be called. */
export interface OperationTarget {
  /** In upper case. */
  readonly method: string;
  /** `POST /articles/{p0}/publication{?query*}`. */
  readonly route: string;
  /** Names of the parameters of the path, in the order of their placeholders `p0`, `p1`, … */
  readonly parameters: readonly string[];
  /** Media type of the successful response. */
  readonly type: string;
}

/** Finds operations: by `articles.list` for those of resources, by operation name for all. */
export type OperationIndex = ReadonlyMap<string, OperationTarget>;

/** Media type of responses that are not text. */
export const json = "application/json";

const methods: ReadonlySet<string> = new Set(["get", "query", "post", "put", "patch", "delete"]);

/**
 * Reads the operations of a description. It knows neither of two resources of one name by that
 * name.
 *
 * @throws ClientError `ERR_REST_DESCRIPTION` for what is none
 */
export function indexOperations(description: unknown): OperationIndex {
  const paths = isObject(description) ? description["paths"] : undefined;
  if (!isObject(paths)) {
    throw new ClientError("ERR_REST_DESCRIPTION", "the description of the API has no paths");
  }
  const index = new Map<string, OperationTarget>();
  const doubtful = new Set<string>();
  for (const [path, item] of Object.entries(paths)) {
    if (!isObject(item)) continue;
    for (const [method, operation] of Object.entries(item)) {
      if (!methods.has(method) || !isObject(operation)) continue;
      const { operationId, responses, "x-fetchwork": marks } = operation;
      const target = { ...targetOf(method.toUpperCase(), path), type: typeOf(responses) };
      if (typeof operationId === "string") index.set(operationId, target);
      if (isObject(marks)) {
        const name = `${String(marks["resource"])}.${String(marks["action"])}`;
        if (index.has(name)) doubtful.add(name);
        index.set(name, target);
      }
    }
  }
  for (const name of doubtful) index.delete(name);
  return index;
}

/** Parameters are renamed: `url` or `headers` would be an option of the request builder. */
function targetOf(method: string, path: string): Omit<OperationTarget, "type"> {
  if (!/^\/(?!\/)(?:[\w.~/-]|\{\w+\})*$/.test(path)) {
    throw new ClientError("ERR_REST_DESCRIPTION", "the description of the API has a faulty path");
  }
  const parameters: string[] = [];
  const template = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    parameters.push(name);
    return `{p${parameters.length - 1}}`;
  });
  return { method, route: `${method} ${template}{?query*}`, parameters };
}

/** Text is declared by a media type other than JSON. */
function typeOf(responses: unknown): string {
  for (const [status, response] of Object.entries(isObject(responses) ? responses : {})) {
    const content = isObject(response) ? response["content"] : undefined;
    if (status.startsWith("2") && isObject(content)) return Object.keys(content)[0] ?? json;
  }
  return json;
}
