import type { SchemaIssue, StandardSchema } from "@fetchwork/kit";
import { HttpError } from "../../errors.ts";

/** One thing that is wrong with a response. */
export interface ResponseIssue {
  /** The fault, in the words of the schema's library; `…` replaces values of the response. */
  readonly message: string;
  /** Where: names and indexes from the outside in. */
  readonly path: readonly PropertyKey[];
}

/** `ERR_HTTP_SCHEMA`: a body that is not JSON, or not accepted. It has no value of it. */
export class ResponseSchemaError extends HttpError {
  override readonly name: string = "ResponseSchemaError";
  /** The first ten. */
  readonly issues: readonly ResponseIssue[];

  constructor(issues: readonly ResponseIssue[], count: number = issues.length) {
    const shown = issues.map(({ path, message }) => {
      const place = path.map(String).join(".");
      return place === "" ? message : `${printable(place, 100)}: ${message}`;
    });
    const more = count > issues.length ? `; and ${count - issues.length} more` : "";
    super("ERR_HTTP_SCHEMA", `the response is invalid: ${shown.join("; ")}${more}`);
    this.issues = issues;
  }
}

const maxIssues = 10;

/** Parses a body, and checks it when there is a schema. */
export async function checkedJson<Output>(
  body: string,
  schema: StandardSchema<unknown, Output>,
): Promise<Output> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The error of the platform quotes the body.
    throw new ResponseSchemaError([{ message: "the body is not JSON", path: [] }]);
  }
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, maxIssues).map((issue) => withoutValues(issue, value));
  throw new ResponseSchemaError(issues, result.issues.length);
}

/** Some libraries quote what they found, such as `expected number but received "…"`. */
function withoutValues(issue: SchemaIssue, root: unknown): ResponseIssue {
  const path = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
  const found = path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    root,
  );
  // A message of this length quotes something.
  let message = issue.message.length > 2000 ? "invalid" : issue.message;
  JSON.stringify(found, (_, value: unknown) => {
    const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
    if (text === "" || !message.includes(text.slice(0, 3))) return value;
    message = message.replaceAll(JSON.stringify(value), "…");
    // Shorter ones may be a part of any word.
    if (text.length > 3) message = message.replaceAll(text, "…");
    return value;
  });
  return { message: printable(message, 300), path };
}

/** Makes one bounded piece of printable text of whatever a server sends. */
export function printable(text: string, longest: number): string {
  const start = text.length > longest ? `${text.slice(0, longest)}…` : text;
  // oxlint-disable no-control-regex -- these are what is replaced
  return start
    .replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
    .trim()
    .toWellFormed();
}
