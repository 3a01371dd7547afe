import { isLoopbackHost } from "@fetchwork/kit";
import { CommandUsageError } from "../command/usage-error.ts";

/** Whether a token may go there: `https`, or `http` to this machine (RFC 6750, 5.3; 8252, 8.3). */
export function isSafeUrl(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

/**
 * Reads a URL of the command line to which secrets go.
 *
 * @throws CommandUsageError
 */
export function safeUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    throw new CommandUsageError(`${name} must be an absolute URL such as https://example.com`);
  // Not shown: it may hold a password.
  if (url.username !== "" || url.password !== "") {
    throw new CommandUsageError(`${name} must not contain a user name or password`);
  }
  if (isSafeUrl(url)) return url;
  throw new CommandUsageError(
    `${name} must be https (or http on this machine), because a token is sent there`,
  );
}
