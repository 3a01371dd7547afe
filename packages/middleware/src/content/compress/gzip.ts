import type { Middleware } from "@fetchwork/http";
import { compress } from "./compress.ts";
import { checkCalled } from "../../check-options.ts";

/** Media types that {@link gzip} compresses by default. */
const defaultTypes: readonly string[] = Object.freeze([
  "text/html",
  "text/plain",
  "text/css",
  "text/xml",
  "text/javascript",
  "application/javascript",
  "application/x-javascript",
  "application/json",
]);

/**
 * Compresses responses with gzip, of any size, at level 6. Otherwise as {@link compress}.
 *
 * @param types - Beginnings of media types that are compressed, instead of the default: {@link
 * defaultTypes}.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a type is empty or no text
 */
export function gzip(...types: readonly string[]): Middleware {
  checkCalled("gzip", types[0]);
  return compress({
    encodings: ["gzip"],
    types: types.length === 0 ? defaultTypes : types,
    threshold: 0,
  });
}
