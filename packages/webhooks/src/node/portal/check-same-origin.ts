import { Problem } from "./problem.ts";

/**
 * Refuses what a page of another origin makes a browser send with the cookies of its user. A bearer
 * token is sent by no browser unasked. A request with neither `Sec-Fetch-Site` nor `Origin` comes
 * from a program, or reads and has no effect.
 */
export function checkSameOrigin({ headers, url }: Request): void {
  if (/^bearer ./i.test(headers.get("authorization") ?? "")) return;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isSame =
    site === null
      ? origin === null || URL.parse(origin)?.host === new URL(url).host
      : site === "same-origin" || site === "none";
  if (!isSame) throw new Problem(403, "the request comes from a page of another origin");
}
