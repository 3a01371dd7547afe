import type { Context, Handler, Middleware } from "@fetchwork/http";
import { empty } from "@fetchwork/http/responses";
import {
  checkAmount,
  checkFunction,
  checkNext,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import { encodeJSON } from "../json/encode-json.ts";
import { hideBody, readBody, restoreBody } from "../body/read-body.ts";
import { place } from "../order.ts";

/** Options of {@link blackWords} and {@link blackWordsFn}. */
export interface BlackWordsOptions {
  /**
   * Maximum size of a body in bytes, which is read into memory; a larger one gets 413. `Infinity`
   * reads everything that arrives, which lets one request fill the memory. Default: `1_048_576`.
   */
  readonly limit?: number | undefined;
}

/**
 * Responds with 403 to requests whose body contains one of the words, in any case and also inside
 * other words. Responds with 400 when the body cannot be read, and with 413 when it is over the
 * limit. The handler finds the body whole.
 *
 * It is a coarse net. The body is read as UTF-8 and not decoded: escapes of JSON (`\u0062`), of
 * forms (`%62`), another charset or compression hide a word from it.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` also for an empty word, which every body contains
 */
export function blackWords(words: readonly string[], options: BlackWordsOptions = {}): Middleware {
  checkTexts(words, "words");
  const folded = words.map((word) => {
    if (word === "") throw optionError("words", word, "a word");
    return word.toLowerCase();
  });
  return refuseWords(() => folded, options);
}

/**
 * Rejects what {@link blackWords} rejects, with words that may change: the function is called for
 * each request with a body. Empty words are passed over. When it throws, the request fails and the
 * handler does not run.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function blackWordsFn(
  words: () => readonly string[],
  options: BlackWordsOptions = {},
): Middleware {
  checkFunction(words, "words");
  const fold = (): readonly string[] =>
    words()
      .filter((word) => word !== "")
      .map((word) => word.toLowerCase());
  return refuseWords(fold, options);
}

function refuseWords(words: () => readonly string[], options: BlackWordsOptions): Middleware {
  checkOptions("blackWords", options, ["limit"]);
  const { limit = 1_048_576 } = options;
  checkAmount(limit, "limit", 0);
  return place("blackWords", (next) => {
    checkNext("blackWordsFn", next);
    return (request, context) => {
      if (request.body === null) return next(hideBody(request), context);
      return check(next, request, context, { words, limit });
    };
  });
}

async function check(
  next: Handler,
  request: Request,
  context: Context,
  { words, limit }: { readonly words: () => readonly string[]; readonly limit: number },
): Promise<Response> {
  const body = await readBody(request, limit);
  if ("failure" in body) {
    return body.failure === "too large"
      ? empty(413)
      : encodeJSON(400, { error: "can't read request body" });
  }
  const content = new TextDecoder().decode(body.bytes).toLowerCase();
  if (words().some((word) => content.includes(word))) {
    return encodeJSON(403, { error: "one of blacklisted words detected" });
  }
  return next(restoreBody(request, body.bytes), context);
}
