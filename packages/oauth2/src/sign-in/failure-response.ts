import { escapeHtml } from "@fetchwork/kit";
import { AuthorizationResponseError, OAuth2ConnectionError, type OAuth2Error } from "../errors.ts";
import { TokenValidationError } from "../oidc/errors.ts";

/** Errors of token endpoints for an invalid code: those of RFC 6749, 5.2, GitHub and Slack. */
const codeErrors: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "bad_verification_code",
  "invalid_code",
  "code_already_used",
]);

/** Finds who is responsible for a failed sign-in: callback 400, provider 502 or 503. */
export function failureStatus(error: OAuth2Error): 400 | 502 | 503 {
  const { code, status } = error;
  // RFC 6749, 4.1.2.1: what the provider itself reports by the browser.
  if (code === "temporarily_unavailable") return 503;
  if (error instanceof AuthorizationResponseError) return code === "server_error" ? 502 : 400;
  if (error instanceof TokenValidationError || codeErrors.has(code)) return 400;
  const isDown = error instanceof OAuth2ConnectionError || status === 429 || status === 503;
  return isDown ? 503 : 502;
}

/** Describes a failed sign-in to its user: the error's message if it is safe, else what to do. */
export function failureDetail(error: OAuth2Error): string {
  const status = failureStatus(error);
  if (status !== 400) return "The provider is not available. Try again later.";
  const isShown = error instanceof AuthorizationResponseError;
  return isShown ? error.message : "The provider did not confirm this sign-in. Start again.";
}

/** Makes a page for a browser, and problem details (RFC 9457) for other clients. */
export function failureResponse(
  request: Request,
  status: number,
  detail: string,
  code?: string,
): Response {
  const title = status === 405 ? "Method not allowed" : "Sign-in failed";
  const headers = new Headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  if (status === 503) headers.set("retry-after", "10");
  if (request.headers.get("accept")?.includes("text/html") === true) {
    headers.set("content-type", "text/html; charset=utf-8");
    headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    const page = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${escapeHtml(detail)}</p>\n`;
    return new Response(page, { status, headers });
  }
  headers.set("content-type", "application/problem+json");
  return new Response(JSON.stringify({ title, status, detail, code }), { status, headers });
}
