import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Nothing but our own files; no script or style inside of the page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const scripts = [
  "api.js",
  "elements.js",
  "file-view.js",
  "highlight.js",
  "new-task.js",
  "page.js",
  "sign-in.js",
  "task-list.js",
  "task-parts.js",
  "task-view.js",
  "tried.js",
] as const;

const files = [
  ["/", "page.html", "text/html; charset=utf-8"],
  ["/assets/page.css", "page.css", "text/css; charset=utf-8"],
  ["/openapi.json", "openapi.json", "application/json"],
  ...scripts.map((name) => [`/assets/${name}`, name, "text/javascript; charset=utf-8"] as const),
] as const;

/** The page at `/` and its files, and what the task API is in OpenAPI 3.1, by path. */
export function pageAssets(): readonly (readonly [string, (request: Request) => Response])[] {
  return files.map(([path, name, type]) => {
    const body = readFileSync(new URL(`../../assets/${name}`, import.meta.url));
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
    const headers = {
      "content-type": type,
      "cache-control": "no-cache",
      "content-security-policy": policy,
      "x-frame-options": "DENY",
      etag,
    };
    const respond = (request: Request): Response =>
      request.headers.get("if-none-match") === etag
        ? new Response(null, { status: 304, headers: { etag, "content-security-policy": policy } })
        : new Response(body, { headers });
    return [path, respond] as const;
  });
}
