import { checkNames } from "./check-names.ts";
import { fail } from "./errors.ts";
import { isToken } from "./headers.ts";
import { isObject } from "./own-property.ts";

/** Amends the `accept` header. */
export interface MediaTypeOption {
  /** Such as `raw`, `diff` or `text+json`; nothing when empty. Default: `""`. */
  readonly format?: string | undefined;
  /**
   * Names of previews, with or without `-preview`. They count for an url that ends with `/graphql`
   * only; there those of the defaults count too.
   */
  readonly previews?: readonly string[] | undefined;
}

/** Returns the `accept` header for a format and, where the url takes them, previews. */
export function acceptHeader(
  accept: string,
  mediaType: unknown,
  { url, vendor }: { readonly url: unknown; readonly vendor: string },
): string {
  const { format, previews } = isObject(mediaType) ? mediaType : { format: mediaType };
  if (isObject(mediaType)) checkNames("mediaType", mediaType, ["format", "previews"]);
  if (!format && !previews) return accept;
  if (!isTokens([format || "none"])) {
    fail("ERR_ENDPOINT_OPTION", "mediaType.format must be a token such as raw");
  }
  if (!isTokens(previews ?? [])) {
    fail("ERR_ENDPOINT_OPTION", "mediaType.previews must be a list of names");
  }
  if (accept.includes("application/octet-stream")) return accept;
  if (isTokens(previews) && previews.length > 0 && String(url).endsWith("/graphql")) {
    const given = accept.split(/[,.+\s]/).filter((part) => part.endsWith("-preview"));
    const names = [...given, ...previews].map((name) => name.replace(/-preview$/, ""));
    const ending = isToken(format) ? `.${format}` : "+json";
    return [...new Set(names)]
      .map((name) => `application/vnd.${vendor}.${name}-preview${ending}`)
      .join();
  }
  if (!isToken(format)) return accept;
  // `application/vnd.x.v3.y+json` -> `application/vnd.x.v3.FORMAT`; types of another form stay.
  return accept
    .split(",")
    .map((type) =>
      type.replace(
        /^(\s*application\/vnd\.\w+)(\.v\d+)?(?:\.\w+)?(?:\+json)?$/,
        (_, name: string, version = "") => `${name}${version}.${format}`,
      ),
    )
    .join();
}

/** Whether a value is a list of tokens. */
export function isTokens(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isToken);
}
