/** Returns the least text that is greater than every text with the prefix, if there is one. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    if (point < 0x10_ffff) {
      // Lone surrogates do not occur in stored text.
      const next = point === 0xd7ff ? 0xe000 : point + 1;
      return points.join("") + String.fromCodePoint(next);
    }
  }
  return undefined;
}

/** Tells whether a string could be the JSON text of an object or a list. */
export function looksLikeJson(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

/** Tells whether a range may hold `true`, `false`, or the text of an object or array. */
export function isAmbiguousRange(
  lower: number | string | undefined,
  upper: number | string | undefined,
  type: string,
): boolean {
  if (type === "number") {
    return !((typeof lower === "number" && lower > 1) || (typeof upper === "number" && upper < 0));
  }
  const low = typeof lower === "string" ? lower : "";
  const high = typeof upper === "string" ? upper : undefined;
  const holds = (first: string, next: string): boolean =>
    low < next && (high === undefined || high >= first);
  return holds("[", "\\") || holds("{", "|");
}
