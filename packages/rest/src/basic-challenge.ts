/** Asks for email and password (RFC 7617), as a header of a 401. */
export const basicChallenge: Readonly<Record<string, string>> = {
  "www-authenticate": 'Basic realm="api", charset="UTF-8"',
};

/**
 * The challenge for scripts of pages, with a scheme that browsers do not know: for `Basic` they
 * open a dialog instead of leaving the 401 to the script. Requests of scripts are told by
 * `Sec-Fetch-Dest` (Fetch Metadata).
 */
export function withoutDialog(response: Response, { headers }: Request): Response {
  const challenge = response.headers.get("www-authenticate");
  if (challenge?.startsWith("Basic ") === true && headers.get("sec-fetch-dest") === "empty") {
    response.headers.set("www-authenticate", `x${challenge}`);
  }
  return response;
}
