/** Every spelling of `password-resets` and `email-changes` in a path, with everything after it. */
const beforeTokens = ["password-resets", "email-changes"].map((name) =>
  name.replace(/./g, spellingsOf),
);
const afterResets = new RegExp(`(${beforeTokens.join("|")})(?!$).*`, "i");

/** Text as long as a token, on the page of a link, whose address is sent as `Referer`. */
const likeToken = /(?:[\w-]|%[\da-f]{2}){43,}/gi;

/**
 * Removes tokens of mails from a URL for the log: everything after `/password-resets` and
 * `/email-changes`, however spelt, and other parts of the path as long as a token.
 */
export function withoutResetToken(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const shown = path.replace(afterResets, "$1/***").replace(likeToken, "***");
  return end === -1 ? shown : shown + url.slice(end);
}

/** A character as itself or percent-encoded, once or more often. */
function spellingsOf(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:${character}|%(?:25)*(?:${codes.join("|")}))`;
}
