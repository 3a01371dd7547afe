import type { Route } from "../../plan/route.ts";
import type { Call } from "../../resource/call.ts";
import { idempotencyHeader, readIdempotencyKey } from "./idempotency-key.ts";
import { runInTransaction, runWithLease } from "./run-once.ts";

/** Handles a call; `sent` are the fields of its body as they came, without a token. */
export type CallHandler = (call: Call, sent: unknown) => Promise<Response> | Response;

/**
 * Makes the function that handles calls of a route: those of a POST with an `Idempotency-Key` once per key.
 */
export function callHandler(route: Route): CallHandler {
  // The rule and the schema that fix the types of body and user have been applied before.
  const handle = (call: Call): Promise<Response> | Response =>
    route.handle(call as Call<never, never>);
  if (route.method !== "POST") return handle;
  const { atomic = route.resource !== undefined } = route;
  const runOnce = atomic ? runInTransaction : runWithLease;
  return (call, sent) => {
    if (!call.request.headers.has(idempotencyHeader)) return handle(call);
    const key = readIdempotencyKey(route, call, sent);
    return key ? runOnce({ key, call, handle }) : handle(call);
  };
}
