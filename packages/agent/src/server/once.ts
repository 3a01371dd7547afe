import { json, type Context } from "@fetchwork/http";
import { idempotency, type IdempotencyStore } from "@fetchwork/middleware";

type Operation = (
  request: Request,
  context: Context,
  ids: readonly string[],
) => Promise<Response> | Response;

/** Milliseconds for which a request holds its key at most: longer than a step takes. */
const longestStep = 1_800_000;

/**
 * Makes operations heed `Idempotency-Key`: a repetition gets the answer of the first, and runs nothing. Answers other than
 * successes are not kept. Problems with the key are told as the protocol tells problems.
 */
export function once(store: IdempotencyStore): (operation: Operation) => Operation {
  const middleware = idempotency({
    store,
    lockFor: longestStep,
    // A step's output may have a mebibyte, which JSON may write six times as long.
    maxResponseBytes: 16 * 1_048_576,
    shouldKeep: ({ status }) => status === 200,
  });
  return (operation) => async (request, context, ids) => {
    if (!request.headers.has("idempotency-key")) return operation(request, context, ids);
    let isOurs = false;
    const handler = middleware((inner, innerContext) => {
      isOurs = true;
      return operation(inner, innerContext, ids);
    });
    const response = await handler(request, context);
    if (isOurs || response.headers.has("idempotency-replayed")) return response;
    const { status, headers } = response;
    const said: unknown = await response.json();
    const message =
      typeof said === "object" && said !== null && "error" in said ? String(said.error) : "refused";
    const retryAfter = headers.get("retry-after");
    return json(
      { message, code: "idempotency_key", retryable: retryAfter !== null },
      { status, headers: retryAfter === null ? {} : { "retry-after": retryAfter } },
    );
  };
}
