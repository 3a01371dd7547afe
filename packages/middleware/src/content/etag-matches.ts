/**
 * Whether an entity tag is among those of an `If-None-Match` field (RFC 9110, 13.1.2), by the weak
 * comparison of 8.8.3.2.
 *
 * Follows the grammar: a tag may contain commas, and several fields are joined by commas. An
 * invalid tag is skipped. `*` never matches, because only the owner of the resource knows whether
 * it exists. Takes time linear in the length of the field.
 *
 * @param field - Value of the header, or null.
 * @param etag - Tag of the current representation, with its quotes, weak or strong.
 */
export function etagMatches(field: string | null, etag: string): boolean {
  if (field === null) return false;
  const wanted = etag.startsWith("W/") ? etag.slice(2) : etag;
  // Text without quotes is not a tag, and could equal the text between two tags.
  if (wanted.length < 2 || !wanted.startsWith('"') || !wanted.endsWith('"')) return false;
  let position = 0;
  while (position < field.length) {
    const start = skipSeparators(field, position);
    const quote = field.startsWith("W/", start) ? start + 2 : start;
    const end = field[quote] === '"' ? field.indexOf('"', quote + 1) : -1;
    if (end === -1) {
      position = nextElement(field, start);
    } else {
      position = end + 1;
      const isWhole = isElementEnd(field, position);
      if (isWhole && end + 1 - quote === wanted.length && field.startsWith(wanted, quote)) {
        return true;
      }
      if (!isWhole) position = nextElement(field, position);
    }
  }
  return false;
}

function skipSeparators(field: string, from: number): number {
  let position = from;
  while (field[position] === "," || field[position] === " " || field[position] === "\t") {
    position += 1;
  }
  return position;
}

function isElementEnd(field: string, from: number): boolean {
  let position = from;
  while (field[position] === " " || field[position] === "\t") position += 1;
  return position === field.length || field[position] === ",";
}

function nextElement(field: string, from: number): number {
  const comma = field.indexOf(",", from);
  return comma === -1 ? field.length : comma + 1;
}
