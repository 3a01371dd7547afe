import { HttpUsageError } from "../../errors.ts";

/** Standard methods (RFC 9110, 9, RFC 5789, RFC 10008); any other token is a method too. */
export const Method = {
  Get: "GET",
  Head: "HEAD",
  Post: "POST",
  Put: "PUT",
  Patch: "PATCH",
  Delete: "DELETE",
  Options: "OPTIONS",
  Trace: "TRACE",
  Query: "QUERY",
} as const;

/** A method: a standard one or any other token. */
export type Method = (typeof Method)[keyof typeof Method] | (string & Record<never, never>);

const standard: ReadonlyMap<string, string> = new Map(
  Object.values(Method).flatMap((name) => [
    [name, name],
    [name.toLowerCase(), name],
  ]),
);

/**
 * Returns a method as it is sent: standard ones in upper case, others unchanged.
 *
 * @throws HttpUsageError `ERR_HTTP_METHOD` for what is not a token, and for `CONNECT`, which opens
 * a tunnel
 */
export function normaliseMethod(method: unknown): string {
  if (method === undefined || method === "") return "GET";
  const known = typeof method === "string" ? standard.get(method) : undefined;
  if (known !== undefined) return known;
  if (typeof method !== "string" || !/^[!#$%&'*+\-.^_`|~\dA-Za-z]{1,64}$/.test(method)) {
    const shown = typeof method === "string" ? JSON.stringify(method.slice(0, 64)) : typeof method;
    throw new HttpUsageError(
      "ERR_HTTP_METHOD",
      `invalid method ${shown}: expected a token such as GET`,
    );
  }
  const upper = method.toUpperCase();
  if (upper === "CONNECT") {
    throw new HttpUsageError("ERR_HTTP_METHOD", "a client cannot send CONNECT");
  }
  return standard.has(upper) ? upper : method;
}
