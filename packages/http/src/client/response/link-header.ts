const tokens = /<[^>]*(?:>|$)|"(?:[^"\\]|\\.?)*(?:"|$)|[;,=]|[^\s<>";,=]+/gs;

/**
 * Returns the target of the first link with `rel="next"` (RFC 8288 section 3) as the field has it:
 * usually relative to the URL of the response. Links with an `anchor` are about another resource.
 * Takes time linear in the field.
 */
export function nextLink(field: string): string | undefined {
  let link: { target: string; relations?: string; isAnchored?: boolean } | undefined;
  let name = "";
  let previous = "";
  for (const [token] of field.matchAll(tokens)) {
    if (previous === "," || previous === "") {
      if (isNext(link)) break;
      link = token.startsWith("<") ? { target: token.slice(1, -1).trim() } : undefined;
    } else if (previous === ";") {
      name = token.toLowerCase();
      if (link !== undefined && name === "anchor") link.isAnchored = true;
    } else if (previous === "=" && name === "rel" && link !== undefined) {
      // Only the first one counts (section 3.3).
      link.relations ??= token.startsWith('"') ? token.slice(1, -1) : token;
    }
    previous = token;
  }
  return isNext(link) ? link?.target : undefined;
}

function isNext(
  link: { readonly relations?: string; readonly isAnchored?: boolean } | undefined,
): boolean {
  if (link === undefined || link.isAnchored === true) return false;
  return (link.relations ?? "").toLowerCase().split(/\s+/).includes("next");
}
