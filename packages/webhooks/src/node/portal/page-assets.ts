import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { escapeHtml } from "@fetchwork/kit";

const types = {
  "": "text/html; charset=utf-8",
  "portal.css": "text/css; charset=utf-8",
  "api.js": "text/javascript; charset=utf-8",
  "deliveries.js": "text/javascript; charset=utf-8",
  "elements.js": "text/javascript; charset=utf-8",
  "endpoint-form.js": "text/javascript; charset=utf-8",
  "endpoint-view.js": "text/javascript; charset=utf-8",
  "portal.js": "text/javascript; charset=utf-8",
} as const;

/** Returns a file of the page by its path below the portal's; `undefined` without one. */
type PageAssets = (name: string, request: Request) => Response | undefined;

/** Makes the page and its files. They have no data, so they are for everyone. */
export function pageAssets(frameAncestors: readonly string[]): PageAssets {
  const parents = frameAncestors.join(" ");
  const headers = {
    "cache-control": "no-cache",
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors ${parents || "'none'"}; require-trusted-types-for 'script'; trusted-types 'none'`,
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    ...(parents === "" && { "x-frame-options": "DENY" }),
  };
  const files = new Map<string, { readonly body: string; readonly etag: string }>();

  /** Read when first asked for, since few processes ever show the page. */
  function fileOf(name: string): { readonly body: string; readonly etag: string } {
    let file = files.get(name);
    if (file === undefined) {
      // Found by the name of the package, so that a program that was bundled into one file finds
      // them too.
      const { resolve } = createRequire(import.meta.url);
      const folder = dirname(resolve("@fetchwork/webhooks/package.json"));
      const text = readFileSync(join(folder, "assets/portal", name || "portal.html"), "utf8");
      const body = name === "" ? text.replace("{{parents}}", () => escapeHtml(parents)) : text;
      const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
      file = { body, etag };
      files.set(name, file);
    }
    return file;
  }

  return (name, request) => {
    if (!isFile(name)) return undefined;
    const { body, etag } = fileOf(name);
    if (request.headers.get("if-none-match") === etag) {
      return new Response(null, { status: 304, headers: { ...headers, etag } });
    }
    return new Response(body, { headers: { ...headers, etag, "content-type": types[name] } });
  };
}

function isFile(name: string): name is keyof typeof types {
  return Object.hasOwn(types, name);
}
