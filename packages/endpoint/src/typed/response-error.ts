import { EndpointError } from "../errors.ts";
import type { BodyIssue } from "./operation.ts";

/**
 * `ERR_ENDPOINT_RESPONSE`: a 2xx response that is not JSON, or not what its schema expects. The
 * message names up to ten places, and no values.
 */
export class EndpointResponseError extends EndpointError {
  override readonly name: string = "EndpointResponseError";
  readonly status: number;
  readonly #issues: readonly BodyIssue[];

  constructor(status: number, issues: readonly BodyIssue[] = []) {
    const found = `the response with the status ${status}`;
    super(
      "ERR_ENDPOINT_RESPONSE",
      issues.length === 0
        ? `${found} is not JSON`
        : `${found} is not what its schema expects: ${issues.slice(0, 10).map(placeOf).join(", ")}`,
    );
    this.status = status;
    this.#issues = issues;
  }

  /** Issues that the schema found. Issues may quote the body: not a property that logs show. */
  get issues(): readonly BodyIssue[] {
    return this.#issues;
  }
}

function placeOf({ path = [] }: BodyIssue): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  // Names may come from the body, as those of a record do.
  const place = keys.join(".").replace(/[^\x20-\x7e]/g, "?");
  return place.length > 100 ? `${place.slice(0, 100)}…` : place || "the whole";
}
