import { StartError } from "./start-error.ts";

/**
 * Reads the address under which browsers reach the server.
 *
 * @throws StartError
 */
export function readPublicUrl(given: string | undefined, fallback: string): string {
  const url = URL.canParse(given || fallback) ? new URL(given || fallback) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) {
    return url.origin;
  }
  throw new StartError(`PUBLIC_URL is ${JSON.stringify(given)}, but must be an origin`);
}
