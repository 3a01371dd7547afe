import {
  changeHeaders,
  createContextKey,
  type Context,
  type Handler,
  type Middleware,
} from "@fetchwork/http";
import { checkFunction, optionError } from "../check-options.ts";
import { place } from "../order.ts";

/**
 * Lets a request pass when one of several guards does, such as a session or a token. They are asked
 * in order, and the first that passes the request on decides. When all refuse with 401 or 403, the
 * response is the first 401, or else the last one. It has the challenges of all of them (RFC 9110,
 * 11.6.1). Any other response of a guard is sent as it is.
 *
 * A guard must not read the body before it refuses, and every guard must refuse by its response.
 *
 * @example
 * ```ts
 * some(basicAuth(checkPassword, { prompt: true }), bearerAuth({ verify: findToken }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when there are fewer than two guards
 */
export function some(...guards: readonly Middleware[]): Middleware {
  if (guards.length < 2) throw optionError("guards", guards.length, "at least two guards");
  for (const guard of guards) checkFunction(guard, "guard");
  const passedKey = createContextKey<boolean>("passed a guard");
  return place("some", (next) => {
    const inner: Handler = (request, context) => {
      context.set(passedKey, true);
      return next(request, context);
    };
    const handlers = guards.map((guard) => guard(inner));
    const ask = async (request: Request, context: Context): Promise<Response> => {
      const refusals: Response[] = [];
      for (const handler of handlers) {
        context.set(passedKey, false);
        const response = await handler(request, context);
        if (context.get(passedKey) === true || !isRefusal(response)) {
          discard(refusals);
          return response;
        }
        refusals.push(response);
      }
      return joinRefusals(refusals, context);
    };
    return ask;
  });
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403;
}

function joinRefusals(refusals: readonly Response[], context: Context): Response {
  const chosen = refusals.find(({ status }) => status === 401) ?? refusals.at(-1);
  if (chosen === undefined) throw new Error("some() was built without guards");
  const others = refusals.filter((response) => response !== chosen);
  const challenges = others.flatMap(({ headers }) => headers.get("www-authenticate") ?? []);
  discard(others);
  return changeHeaders(chosen, context, (headers) => {
    for (const challenge of challenges) headers.append("www-authenticate", challenge);
  });
}

function discard(responses: readonly Response[]): void {
  for (const { body } of responses) body?.cancel().catch(() => undefined);
}
