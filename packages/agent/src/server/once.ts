import { json } from "@fetchwork/http";
import { isObject } from "@fetchwork/kit";
import { idempotency, type IdempotencyStore } from "@fetchwork/middleware";
import type { Operation } from "./route-requests.ts";

/** Milliseconds for which a request holds its key at most: longer than a step takes. */
const longestStep = 1_800_000;

/**
 * Makes operations heed `Idempotency-Key`: a repetition gets the response of the first, and runs
 * nothing. Responses other than successes are not kept. Problems with the key are told as the
 * protocol tells problems.
 */
export function once(store: IdempotencyStore): (operation: Operation) => Operation {
  const middleware = idempotency({
    store,
    lockFor: longestStep,
    // A step's output may have a mebibyte, which JSON may write six times as long.
    maxResponseBytes: 16 * 1_048_576,
    shouldKeep: ({ status }) => status === 200,
  });
  return (operation) => async (call) => {
    const { request, context } = call;
    if (!request.headers.has("idempotency-key")) return operation(call);
    let isOurs = false;
    const handler = middleware((inner, innerContext) => {
      isOurs = true;
      return operation({ ...call, request: inner, context: innerContext });
    });
    const response = await handler(request, context);
    if (isOurs || response.headers.has("idempotency-replayed")) return response;
    const { status, headers } = response;
    const body: unknown = await response.json();
    const message = isObject(body) && "error" in body ? String(body["error"]) : "refused";
    const retryAfter = headers.get("retry-after");
    return json(
      { message, code: "idempotency_key", retryable: retryAfter !== null },
      { status, headers: retryAfter === null ? {} : { "retry-after": retryAfter } },
    );
  };
}
