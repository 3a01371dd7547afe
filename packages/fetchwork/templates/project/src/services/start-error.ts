import { inspect } from "node:util";
import { ListenError } from "@fetchwork/http";
import { RestError } from "@fetchwork/rest";
import { about } from "../about.ts";

/** Something that whoever starts the server can put right; its message says what. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** What to print when the start has failed: one line for a known cause, the stack for any other. */
export function startFailure(error: unknown): string {
  if (error instanceof ListenError) {
    const advice = error.systemCode === "EADDRINUSE" ? "; set PORT to another" : "";
    return `${about.name}: ${error.message}${advice}`;
  }
  const isKnown = error instanceof StartError || error instanceof RestError;
  return `${about.name}: ${isKnown ? error.message : inspect(error)}`;
}
