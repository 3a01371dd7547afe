import type { Readable, Writable } from "node:stream";
import { CommandFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { namesOf, singularOf } from "./resource-names.ts";

/** The person to ask. */
interface ChooseContext {
  /** The terminal; without one nobody is asked. */
  readonly input: Readable | undefined;
  /** Default: the standard output. */
  readonly output?: Writable | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns the singular that names a resource. If the given name looks like a plural, asks whether
 * the singular is meant.
 *
 * @throws CommandUsageError for a plural that nobody can be asked about.
 */
export async function chooseName(
  given: string,
  { input, output, signal }: ChooseContext,
): Promise<string> {
  const singular = singularOf(given);
  if (singular === undefined) return given;
  if (input === undefined) {
    throw new CommandUsageError(
      `${JSON.stringify(given)} looks like a plural, did you mean ${singular}? To keep the name, set the path: --path /${namesOf(given).kebab}`,
    );
  }
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({
    input,
    signal,
    ...(output !== undefined && { output }),
    message: `A resource has a singular name. Use ${singular}, with the path ${namesOf(singular).path}?`,
  });
  if (isCancel(answer)) {
    throw new CommandFailure("interrupted: nothing was written", {
      exitCode: exitCodes.interrupted,
    });
  }
  return answer ? singular : given;
}
