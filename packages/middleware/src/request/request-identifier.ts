// The characters that tracing systems use; none has a meaning in a header, a log or a page.
const acceptable = /^[\w\-=.:+/@~]{1,255}$/;

/** The identifier that a client sent, if it is safe in a header, a log and a page. */
export function acceptedIdentifier(sent: string | null): string | undefined {
  return sent !== null && acceptable.test(sent) ? sent : undefined;
}
