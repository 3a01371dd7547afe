import { RestError } from "./errors.ts";

/**
 * Checks that a secret is long enough, and says how to make one.
 *
 * @throws RestError `ERR_REST_CONFIGURATION`
 */
export function requireSecret(
  // Programs without types may leave it out.
  secret: unknown,
  { name, variable }: { readonly name: string; readonly variable: string },
): asserts secret is string {
  const length = typeof secret === "string" ? secret.length : 0;
  if (length >= 32) return;
  const advice = `set ${variable}, for example to the output of "openssl rand -hex 32"`;
  const message = `${name} must have at least 32 characters (got ${length}): ${advice}`;
  throw new RestError("ERR_REST_CONFIGURATION", message);
}
