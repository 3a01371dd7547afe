import { HttpUsageError } from "./errors.ts";

/** Makes the error for what a handler returned in place of a `Response`; its value may be secret. */
export function notAResponse(returned: unknown): HttpUsageError {
  const advice =
    typeof returned === "function" ? "; was a middleware passed without being called?" : "";
  return new HttpUsageError(
    "ERR_HTTP_RESPONSE",
    `the handler returned ${typeof returned}, expected a Response${advice}`,
  );
}
