import type { Stored } from "@fetchwork/documents";
import { deriveRequest, json } from "@fetchwork/http";
import { isObject } from "@fetchwork/kit";
import type { FieldError } from "../../field-error.ts";
import type { Fields } from "../../fields.ts";
import { requireWritable } from "../../plan/field-writes.ts";
import { asksAgain, requireAccess } from "../../plan/resource-access.ts";
import { badFields, Problem } from "../../problem.ts";
import type { BodyFields, ResourceCall, ResourceHandler } from "../../resource/call.ts";
import type { Resource } from "../../resource/resource.ts";
import { validate } from "../../schema.ts";
import { runTogether } from "../joined-call.ts";
import type { ChangeHandlers } from "../resource-controller.ts";
import { type BulkItem, readBulkItems } from "./bulk-items.ts";

/** Refused items that a response names. */
const maxErrors = 100;

interface BulkResult {
  readonly status: number;
  readonly id: string;
  readonly version?: number | undefined;
  readonly body?: unknown;
}

/**
 * Makes the handler of bulk requests: each item goes through the rule and the handler of its
 * operation, with its hooks and relations. All of them are one transaction.
 *
 * @throws Problem with the status of the first item that is refused; one of 400 names all that are
 * not valid.
 */
export function bulkHandler(resource: Resource, handlers: ChangeHandlers): ResourceHandler {
  return async (call) => {
    const items = readBulkItems(resource, call.body);
    const results = await runTogether(call, (joined) =>
      runItems(resource, handlers, joined, items),
    );
    return json(results);
  };
}

async function runItems(
  resource: Resource,
  handlers: ChangeHandlers,
  call: ResourceCall,
  items: readonly BulkItem[],
): Promise<readonly BulkResult[]> {
  const results: BulkResult[] = [];
  const errors: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    try {
      results.push(await runItem(resource, handlers, call, item));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // A value that is not valid has changed nothing, so the others are looked at too; all is
      // undone in the end.
      if (error.status === 400) errors.push(...placed(error, index));
      else if (errors.length === 0) throw atItem(error, index);
    }
  }
  if (errors.length > 0) throw badFields(errors.slice(0, maxErrors));
  return results;
}

async function runItem(
  resource: Resource,
  handlers: ChangeHandlers,
  call: ResourceCall,
  item: BulkItem,
): Promise<BulkResult> {
  const operation = item.op === "patch" ? "update" : item.op;
  const params = item.op === "create" ? {} : { id: item.id };
  const sent = item.op === "remove" ? {} : item.body;
  // It validates the fields of an object.
  const body = (item.op === "create" ? await validate(resource.sent, sent) : sent) as BodyFields;
  const own = { ...call, params, body, sent, query: new URLSearchParams(), document: undefined };
  const document =
    item.op === "create"
      ? undefined
      : await call.store.collection(resource.collection).get(item.id);
  if (resource.access[operation] !== "master") {
    await requireAccess(resource, operation, { call: own, document });
  }
  if (item.op === "create") requireWritable(resource, own, sent);
  requireVersion(item, document);
  const handle: ResourceHandler<never> = handlers[item.op];
  // Its body was validated by the schema that fixes the type.
  const response = await handle({
    ...own,
    request: withoutConditions(call.request),
    body: own.body as never,
    document: asksAgain(resource, operation) ? document : undefined,
  });
  if (response.status >= 400) {
    throw new Problem(response.status, { detail: `${item.op} was refused` });
  }
  const text = await response.text();
  const shown: unknown = text === "" ? undefined : JSON.parse(text);
  const version = /^"(\d+)/.exec(response.headers.get("etag") ?? "")?.[1];
  const id = item.op === "create" ? createdId(response, shown) : item.id;
  return {
    status: response.status,
    id,
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(shown === undefined ? {} : { body: shown }),
  };
}

/** Only the condition of an item concerns it, and not those of the whole request. */
function withoutConditions(request: Request): Request {
  const none = { "content-length": null, "idempotency-key": null };
  return deriveRequest(request, { headers: { ...none, "if-match": null, "if-none-match": null } });
}

/** Refuses an item that names another version than its document has in the transaction. */
function requireVersion(item: BulkItem, document: Stored<Fields> | undefined): void {
  if (item.op === "create" || item.version === undefined || !document) return;
  if (document.version === item.version) return;
  throw new Problem(412, { detail: "the document is of another version" });
}

/** The caller may be one who is not shown the identifier; the address has it anyway. */
function createdId({ headers }: Response, shown: unknown): string {
  const id = isObject(shown) ? shown["id"] : undefined;
  return typeof id === "string" ? id : (headers.get("location")?.split("/").at(-1) ?? "");
}

function placed({ errors, message }: Problem, index: number): readonly FieldError[] {
  return errors.length > 0
    ? errors.map((error) => ({ ...error, index }))
    : [{ valid: false, param: "operations", name: "invalid", message, index }];
}

function atItem(problem: Problem, index: number): Problem {
  const { cause, headers, message, status } = problem;
  const { etag: _, ...others } = headers; // It is that of the item.
  return new Problem(status, {
    detail: message,
    errors: placed(problem, index),
    headers: others,
    cause,
  });
}
