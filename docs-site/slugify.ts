/**
 * The anchor of a heading as GitHub makes it, so that links of the Markdown lead there on the site
 * too.
 */
export function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}
