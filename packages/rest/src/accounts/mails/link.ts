import { z } from "zod";

/**
 * Takes a link to a page of ours, to which a token is added. So no mail of ours leads anywhere
 * else.
 *
 * @param origins - Origins that pages may have. Default: all.
 */
export function pageLink(origins: readonly string[] | undefined): z.ZodType<string> {
  return z
    .url({ protocol: /^https?$/ })
    .max(500)
    .refine((link) => isPage(link, origins), {
      message: "link must be of an allowed origin, without a query",
    })
    .overwrite((link) => (URL.canParse(link) ? new URL(link).href.replace(/\/+$/, "") : link));
}

function isPage(link: string, origins: readonly string[] | undefined): boolean {
  // Behind a `?` the token would be a part of the query, which servers log.
  if (!URL.canParse(link) || link.includes("?")) return false;
  const { origin, username, password } = new URL(link);
  return (origins?.includes(origin) ?? true) && `${username}${password}` === "";
}
