import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { OpenApiDocument } from "./openapi.ts";

const html = "text/html; charset=utf-8";
const css = "text/css; charset=utf-8";
const javascript = "text/javascript; charset=utf-8";

/** Nothing comes from another host, and nothing inline but the styles that Swagger UI sets on its elements. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Makes the handlers of `/openapi.json` and of the reference at `/docs`, by path. */
export function documentationHandlers(
  openApi: OpenApiDocument,
): Readonly<Record<string, () => Response>> {
  const document = JSON.stringify(openApi);
  return {
    "/openapi.json": () => file(document, "application/json"),
    "/docs": () => file(page(openApi.info.title, "/docs/"), html),
    "/docs/reference.js": () => file(script({ url: "/openapi.json" }), javascript),
    "/docs/swagger-ui.css": () => file(asset("swagger-ui.css"), css),
    "/docs/swagger-ui-bundle.js": () => file(asset("swagger-ui-bundle.js"), javascript),
    "/docs/favicon.png": () => file(asset("favicon-32x32.png"), "image/png"),
  };
}

/** Writes the reference as static files that a browser shows without a server, and `openapi.json` beside them. */
export async function writeReference(openApi: OpenApiDocument, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files: Readonly<Record<string, string | Buffer>> = {
    "index.html": page(openApi.info.title, ""),
    // Without a server there is nothing to try operations on.
    "reference.js": script({ spec: openApi, supportedSubmitMethods: [] }),
    "openapi.json": `${JSON.stringify(openApi, null, 2)}\n`,
    "swagger-ui.css": asset("swagger-ui.css"),
    "swagger-ui-bundle.js": asset("swagger-ui-bundle.js"),
    "favicon.png": asset("favicon-32x32.png"),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(folder, name), content);
  }
}

function file(content: string | Buffer<ArrayBuffer>, type: string): Response {
  return new Response(content, {
    headers: {
      "content-type": type,
      "content-security-policy": contentSecurityPolicy,
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache",
    },
  });
}

function page(title: string, base: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" type="image/png" href="${base}favicon.png" />
    <link rel="stylesheet" href="${base}swagger-ui.css" />
  </head>
  <body>
    <div id="reference"></div>
    <script src="${base}swagger-ui-bundle.js"></script>
    <script src="${base}reference.js"></script>
  </body>
</html>
`;
}

/** The validator badge is off: it would send the document's address to another host. */
function script(source: {
  readonly url?: string;
  readonly spec?: OpenApiDocument;
  readonly supportedSubmitMethods?: readonly string[];
}): string {
  const options = { ...source, dom_id: "#reference", deepLinking: true, validatorUrl: null };
  return `document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);
window.ui = SwaggerUIBundle(${JSON.stringify(options)});
`;
}

const require = createRequire(import.meta.url);
const assets = new Map<string, Buffer<ArrayBuffer>>();

/** Read when first asked for, since few processes ever show the reference. */
function asset(name: string): Buffer<ArrayBuffer> {
  let content = assets.get(name);
  if (!content) {
    // Found by the name of the package, so that a program that was bundled into one file finds them too.
    const folder = path.dirname(require.resolve("@fetchwork/rest/package.json"));
    content = readFileSync(path.join(folder, "assets/swagger-ui", name));
    assets.set(name, content);
  }
  return content;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
