import { OAuth2UsageError, optionError } from "../errors.ts";

/**
 * Where requests may go: anywhere, to the origin of the site, to listed origins
 * (`https://api.example.com`), or where a function says.
 */
export type AllowedOrigins = "any" | "site" | readonly string[] | ((url: URL) => boolean);

/** Throws for a URL that is not allowed. */
export type TargetCheck = (url: URL) => void;

/**
 * Makes the check of targets.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when the rule is malformed; the check throws
 * `ERR_OAUTH_TARGET`
 */
export function createTargetCheck(
  rule: AllowedOrigins | undefined,
  site: URL | undefined,
): TargetCheck {
  const allows = toPredicate(rule ?? "any", site);
  return (url) => {
    if (!allows(url)) {
      throw new OAuth2UsageError(
        "ERR_OAUTH_TARGET",
        `allowedOrigins does not name ${JSON.stringify(url.origin)}`,
      );
    }
  };
}

function toPredicate(rule: AllowedOrigins, site: URL | undefined): (url: URL) => boolean {
  if (typeof rule === "function") return rule;
  if (rule === "any") return () => true;
  if (rule === "site") {
    if (site === undefined) throw optionError("allowedOrigins", "site", "a site to be given");
    return (url) => url.origin === site.origin;
  }
  if (!Array.isArray(rule)) {
    throw optionError("allowedOrigins", rule, '"any", "site", a list of origins or a function');
  }
  const origins = new Set(rule.map(toOrigin));
  return (url) => origins.has(url.origin);
}

function toOrigin(text: unknown): string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  const origin = url?.origin ?? "null";
  if (!/^https?:/.test(origin) || url?.href !== `${origin}/`) {
    throw optionError("allowedOrigins", text, "origins such as https://api.example.com");
  }
  return origin;
}
