import { HttpUsageError } from "../../errors.ts";

/** Names of the usual methods (RFC 9110, 9, and RFC 5789); any other token is a method too. */
export const Method = {
  Get: "GET",
  Head: "HEAD",
  Post: "POST",
  Put: "PUT",
  Patch: "PATCH",
  Delete: "DELETE",
  Options: "OPTIONS",
  Trace: "TRACE",
} as const;

/** A method: one of the usual ones, or any other token. */
export type Method = (typeof Method)[keyof typeof Method] | (string & Record<never, never>);

const standard: ReadonlyMap<string, string> = new Map(
  Object.values(Method).flatMap((name) => [
    [name, name],
    [name.toLowerCase(), name],
  ]),
);

/**
 * Gives a method as it goes on the wire: the usual ones in upper case whatever the caller wrote, others as they are.
 *
 * @throws HttpUsageError `ERR_HTTP_METHOD` for what is no token, and for `CONNECT`, which opens a tunnel
 */
export function normaliseMethod(method: unknown): string {
  if (method === undefined || method === "") return "GET";
  const known = typeof method === "string" ? standard.get(method) : undefined;
  if (known !== undefined) return known;
  if (typeof method !== "string" || !/^[!#$%&'*+\-.^_`|~\dA-Za-z]{1,64}$/.test(method)) {
    const shown = typeof method === "string" ? JSON.stringify(method.slice(0, 64)) : typeof method;
    throw new HttpUsageError("ERR_HTTP_METHOD", `${shown} is no method`);
  }
  const upper = method.toUpperCase();
  if (upper === "CONNECT") {
    throw new HttpUsageError("ERR_HTTP_METHOD", "a client cannot send CONNECT");
  }
  return standard.has(upper) ? upper : method;
}
