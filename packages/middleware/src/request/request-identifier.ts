// What tracing systems use for identifiers, and nothing with a meaning in a header, a log or a page.
const acceptable = /^[\w\-=.:+/@~]{1,255}$/;

/** The identifier that a client sent, unless it is none that may stand in a header, a log or a page. */
export function acceptedIdentifier(given: string | null): string | undefined {
  return given !== null && acceptable.test(given) ? given : undefined;
}
