import type { SchemaIssue, SchemaResult } from "@fetchwork/kit";
import type { CollectionDefinition } from "../api/definition.ts";
import { definitionError, SchemaError } from "../api/errors.ts";

type Schematic = Pick<CollectionDefinition<unknown>, "name" | "schema">;

/**
 * Returns what the schema of a collection makes of a document; the document itself without a
 * schema.
 *
 * @throws {SchemaError}
 */
export async function checkSchema(definition: Schematic, document: unknown): Promise<unknown> {
  const { schema } = definition;
  if (schema === undefined) return document;
  return valueOf(definition, await schema["~standard"].validate(document));
}

/**
 * Does the same synchronously, for a change that cannot wait for a promise.
 *
 * @throws {SchemaError}
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` for an asynchronous schema
 */
export function checkSchemaNow(definition: Schematic, document: unknown): unknown {
  const { name, schema } = definition;
  if (schema === undefined) return document;
  const result = schema["~standard"].validate(document);
  if (!(result instanceof Promise)) return valueOf(definition, result);
  // Nothing awaits it, so a rejection would be reported as unhandled.
  result.catch(() => undefined);
  throw definitionError(
    `the schema of "${name}" is asynchronous, expected a synchronous one for a change of a stored document`,
  );
}

function valueOf({ name }: Schematic, result: SchemaResult<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    path: issuePath(path),
  }));
  throw new SchemaError(name, issues);
}

/** Writes the path of an issue, such as `address.tags[3]`; empty for the whole value. */
export function issuePath(path: NonNullable<SchemaIssue["path"]>): string {
  let text = "";
  for (const part of path) {
    const key = typeof part === "object" ? part.key : part;
    if (typeof key === "number") text += `[${key}]`;
    else text += `${text === "" ? "" : "."}${String(key)}`;
  }
  return text;
}
