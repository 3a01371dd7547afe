import type { Context } from "@fetchwork/http";
import { checkFunction, optionError } from "../check-options.ts";

/** Reads the variables for one response. */
export type VariableReader = (context: Context) => Promise<Readonly<Record<string, unknown>>>;

const reserved: ReadonlySet<string> = new Set([
  "cmdline",
  "eventLoop",
  "heap",
  "memory",
  "process",
]);
/**
 * Checks variables and prepares to read them.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for one that is not a function, or has the name
 * of a figure
 */
export function variableReader(variables: Readonly<Record<string, () => unknown>>): VariableReader {
  const entries = Object.entries(variables);
  for (const [name, read] of entries) {
    checkFunction(read, `variables.${name}`);
    if (reserved.has(name)) throw optionError("variables", name, "a name that is not reserved");
  }
  return async (context) => {
    const values = await Promise.all(
      entries.map(async ([name, read]) => {
        try {
          return [[name, await read()] as const];
        } catch (cause) {
          context.waitUntil(
            Promise.reject(new Error(`the variable ${name} cannot be read`, { cause })),
          );
          return [];
        }
      }),
    );
    return Object.fromEntries(values.flat());
  };
}

/** Skips values without a JSON form, so that one variable does not fail all others. */
export function toJSON(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const written = Object.entries(values).map(([name, value]) => {
    try {
      const json = JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === "bigint" ? Number(inner) : inner,
      );
      return [name, json === undefined ? undefined : (JSON.parse(json) as unknown)] as const;
    } catch {
      return [name, undefined] as const;
    }
  });
  return Object.fromEntries(written);
}
