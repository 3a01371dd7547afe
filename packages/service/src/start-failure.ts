import { inspect } from "node:util";
import { ListenError } from "@fetchwork/http";
import { RestError } from "@fetchwork/rest";
import { StartError } from "./errors.ts";

/**
 * Describes why a service did not start: a line for each known fault, the stack for any other.
 *
 * @param name - The service, at the beginning of each line.
 */
export function startFailure(name: string, error: unknown): string {
  if (error instanceof ListenError) {
    const advice = error.systemCode === "EADDRINUSE" ? "; set PORT to another" : "";
    return `${name}: ${error.message}${advice}`;
  }
  const isKnown = error instanceof StartError || error instanceof RestError;
  if (!isKnown) return `${name}: ${inspect(error)}`;
  return error.message.replace(/^/gm, `${name}: `);
}
