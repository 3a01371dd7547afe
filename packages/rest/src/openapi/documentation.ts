import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { escapeHtml } from "@fetchwork/kit";
import type { Route } from "../plan/route.ts";
import type { OpenApiDocument } from "./openapi.ts";

const html = "text/html; charset=utf-8";
const css = "text/css; charset=utf-8";
const javascript = "text/javascript; charset=utf-8";

/** Nothing comes from another host, and nothing is inline except Swagger UI's element styles. */
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

/** Makes the handlers of `/openapi.json` and `/docs`; describes the document on demand. */
export function documentationHandlers(
  describe: () => OpenApiDocument,
  { routes, title }: { readonly routes: readonly Route[]; readonly title: string },
): Readonly<Record<string, () => Response>> {
  let document: string | undefined;
  const settings = { url: "/openapi.json", signIn: signInOf(routes) };
  return {
    "/openapi.json": () => file((document ??= JSON.stringify(describe())), "application/json"),
    "/docs": () => file(page(title, "/docs/"), html),
    "/docs/reference.js": () => file(script(settings), javascript),
    "/docs/reference.css": () => file(asset("reference/reference.css"), css),
    "/docs/swagger-ui.css": () => file(asset("swagger-ui/swagger-ui.css"), css),
    "/docs/swagger-ui-bundle.js": () => file(asset("swagger-ui/swagger-ui-bundle.js"), javascript),
    "/docs/favicon.png": () => file(asset("swagger-ui/favicon-32x32.png"), "image/png"),
  };
}

/** Writes the reference as static files for browsers without a server, with `openapi.json`. */
export async function writeReference(openApi: OpenApiDocument, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const files: Readonly<Record<string, string | Buffer>> = {
    "index.html": page(openApi.info.title, ""),
    // Without a server there is nothing to try operations on.
    "reference.js": script({ spec: openApi, supportedSubmitMethods: [] }),
    "openapi.json": `${JSON.stringify(openApi, null, 2)}\n`,
    "reference.css": asset("reference/reference.css"),
    "swagger-ui.css": asset("swagger-ui/swagger-ui.css"),
    "swagger-ui-bundle.js": asset("swagger-ui/swagger-ui-bundle.js"),
    "favicon.png": asset("swagger-ui/favicon-32x32.png"),
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
    <link rel="stylesheet" href="${base}reference.css" />
  </head>
  <body>
    <section id="account" aria-label="Account" hidden>
      <form>
        <label>Email <input name="email" type="email" autocomplete="username" required /></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
        <label>Master key <input name="masterKey" type="password" autocomplete="off" /></label>
        <label>Code of the second factor <input name="totp" autocomplete="one-time-code" /></label>
        <button>Sign in</button>
      </form>
      <div hidden><span>Signed in as <strong></strong></span> <button type="button">Sign out</button></div>
      <p role="alert"></p>
    </section>
    <div id="reference"></div>
    <script src="${base}swagger-ui-bundle.js"></script>
    <script src="${base}reference.js"></script>
  </body>
</html>
`;
}

/** Where the page signs in and out. */
interface SignIn {
  readonly path: string;
  readonly needsMasterKey: boolean;
  readonly signOutPath: string;
}

/** Finds the sign-in among the routes; where there is none, the page has no form. */
function signInOf(routes: readonly Route[]): SignIn | undefined {
  const find = (name: string): Route | undefined =>
    routes.find(({ operation }) => operation === name);
  const signIn = find("signIn");
  // The session of the page alone, rather than all of the user.
  const signOut = find("signOutPage") ?? find("signOut");
  if (signIn === undefined || signOut === undefined) return undefined;
  // An operation of the same name that takes no password must not be sent one.
  if (
    signIn.method !== "POST" ||
    signIn.path.includes(":") ||
    !signIn.access.endsWith("password")
  ) {
    return undefined;
  }
  return {
    path: signIn.path,
    needsMasterKey: signIn.access === "master+password",
    signOutPath: signOut.path,
  };
}

function script(settings: {
  readonly url?: string;
  readonly spec?: OpenApiDocument;
  readonly supportedSubmitMethods?: readonly string[];
  readonly signIn?: SignIn | undefined;
}): string {
  return `const settings = ${JSON.stringify(settings)};\n${asset("reference/reference.js").toString()}`;
}

const require = createRequire(import.meta.url);
const assets = new Map<string, Buffer<ArrayBuffer>>();

/** Read when first asked for, since few processes ever show the reference. */
function asset(name: string): Buffer<ArrayBuffer> {
  let content = assets.get(name);
  if (!content) {
    // Found by the name of the package, so that a program that was bundled into one file finds them
    // too.
    const folder = path.dirname(require.resolve("@fetchwork/rest/package.json"));
    content = readFileSync(path.join(folder, "assets", name));
    assets.set(name, content);
  }
  return content;
}
