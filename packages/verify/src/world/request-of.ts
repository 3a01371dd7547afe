import type { ShownRequest } from "../finding.ts";
import type { Caller } from "./caller.ts";

/** A request as it is sent. */
export function requestOf(
  { token }: Pick<Caller, "token">,
  { body, idempotencyKey, method, path }: ShownRequest,
): Request {
  const headers = new Headers();
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return new Request(new URL(path, "http://localhost"), { method, headers, ...text });
}
