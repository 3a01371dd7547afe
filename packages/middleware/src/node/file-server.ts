import { realpathSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Context, Handler } from "@fetchwork/http";
import { text } from "@fetchwork/http/responses";
import {
  checkFlag,
  checkHeaderValue,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import { refuse } from "../response/plain-response.ts";
import { pathBounds, searchOf } from "../request/request-url.ts";
import { filePathOf, isAllowed, type FilePathRules } from "./file-path.ts";
import { openFile, type FileRoot } from "./open-file.ts";
import { sendFile, type SendSettings } from "./send-file.ts";

/** Options of {@link fileServer}. */
export interface FileServerOptions {
  /** Path of URLs at which the folder is served. Default: `/`. */
  readonly prefix?: string | undefined;
  /** File that is sent for a folder; false for none. Default: `index.html`. */
  readonly index?: string | false | undefined;
  /** Lists folders that have no index, which shows all their names. Default: `false`. */
  readonly listing?: boolean | undefined;
  /**
   * Responds with the root's index and 200 where a file is missing: for applications that route in
   * the browser. Default: `false`.
   */
  readonly spa?: boolean | undefined;
  /** HTML of a 404. Default: `404 page not found` as plain text. */
  readonly notFound?: string | undefined;
  /** Names with a leading dot that are served, with their content. Default: `.well-known`. */
  readonly dotFiles?: readonly string[] | undefined;
  /** `Cache-Control` of files, or a function of the path. Default: none, so clients ask again. */
  readonly cacheControl?: string | ((path: string) => string | undefined) | undefined;
  /**
   * Sends `a.js.br`, `a.js.zst` or `a.js.gz` for `a.js` to clients that accept the coding, when it
   * is not older than `a.js`. Default: `true`.
   */
  readonly precompressed?: boolean | undefined;
  /** Media types by extension, without dot, before built-in ones. Default: none. */
  readonly mediaTypes?: Readonly<Record<string, string>> | undefined;
}

/**
 * Serves the files of a folder to `GET` and `HEAD`; other methods get 405. Understands ranges (one,
 * several, from the end), conditional requests (RFC 9110, 13 and 14) and precompressed files. Files
 * are streamed as fast as the client reads.
 *
 * Never served: what is outside the folder, also through symbolic links; dot files; and paths that
 * could mean two things, such as encoded slashes and backslashes. All of these get a plain 404.
 * Everyone who can write to the folder while it is served is trusted.
 *
 * @param root - Folder; relative to the working directory.
 * @example
 * ```ts
 * const assets = fileServer("dist", { prefix: "/assets", cacheControl: "max-age=31536000, immutable" });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` also when the root is not a folder
 */
export function fileServer(root: string, options: FileServerOptions = {}): Handler {
  const settings = prepare(root, options);
  return (request, context) => {
    const { method, url } = request;
    if (method !== "GET" && method !== "HEAD") {
      return text("405 method not allowed\n", { status: 405, headers: { allow: "GET, HEAD" } });
    }
    const { start, end } = pathBounds(url);
    const path = url.slice(start, end);
    const { prefix } = settings;
    if (path === prefix) return redirectToFolder(url, path);
    if (!path.startsWith(`${prefix}/`)) return settings.notFound();
    return serve(settings, { request, context, path: path.slice(prefix.length) });
  };
}

interface Settings extends SendSettings {
  readonly root: FileRoot;
  /** Without the slash at its end; empty for the root. */
  readonly prefix: string;
  readonly index: string | false;
  readonly listing: boolean;
  readonly spa: boolean;
  readonly notFound: () => Response;
}

interface Exchange {
  readonly request: Request;
  readonly context: Context;
  /** Below the prefix. */
  readonly path: string;
}

async function serve(settings: Settings, exchange: Exchange): Promise<Response> {
  const { root, index, listing, spa } = settings;
  const { request, path } = exchange;
  const names = filePathOf(path, root.rules);
  if (names === undefined) return settings.notFound();
  const isFolderPath = path.endsWith("/");
  const found = await openFile(root, names);
  if (found === undefined) return spa ? serveIndex(settings, exchange) : settings.notFound();
  if ("handle" in found) {
    if (!isFolderPath) return sendFile(settings, { ...exchange, names, file: found });
    await found.handle.close();
    return settings.notFound();
  }
  if (!isFolderPath) return redirectToFolder(request.url, path);
  if (index !== false) {
    const response = await trySend(settings, exchange, [...names, index]);
    if (response !== undefined) return response;
  }
  if (!listing) return settings.notFound();
  const headers = { "content-type": "text/html; charset=utf-8" };
  return text(await listFolder(found.folder, root.rules), { headers });
}

async function serveIndex(settings: Settings, exchange: Exchange): Promise<Response> {
  const names = settings.index === false ? "index.html" : settings.index;
  return (await trySend(settings, exchange, [names])) ?? settings.notFound();
}

async function trySend(
  settings: Settings,
  exchange: Exchange,
  names: readonly string[],
): Promise<Response | undefined> {
  const file = await openFile(settings.root, names);
  if (file === undefined || !("handle" in file)) return undefined;
  return sendFile(settings, { ...exchange, names, file });
}

/** Relative to the last segment, so that no path is taken for a host. */
function redirectToFolder(url: string, path: string): Response {
  const last = path.slice(path.lastIndexOf("/") + 1);
  return text("", { status: 301, headers: { location: `./${last}/${searchOf(url)}` } });
}

function prepare(root: string, options: FileServerOptions): Settings {
  checkOptions("fileServer", options, [
    "prefix",
    "index",
    "listing",
    "spa",
    "notFound",
    "dotFiles",
    "cacheControl",
    "precompressed",
    "mediaTypes",
  ]);
  const { prefix = "/", index = "index.html", listing = false, spa = false } = options;
  const { dotFiles = [".well-known"], precompressed = true, notFound, cacheControl } = options;
  checkTexts(dotFiles, "dotFiles");
  const rules = { dotFiles: new Set(dotFiles), isWindows: process.platform === "win32" };
  if (!/^\/[^?#\\]*$/.test(prefix)) throw optionError("prefix", prefix, "a path from the root");
  for (const [name, value] of Object.entries({ listing, spa, precompressed })) {
    checkFlag(value, name);
  }
  if (notFound !== undefined && typeof notFound !== "string") {
    throw optionError("notFound", notFound, "HTML");
  }
  if (index !== false && filePathOf(`/${index}`, rules)?.length !== 1) {
    throw optionError("index", index, "the name of a file");
  }
  if (cacheControl !== undefined && typeof cacheControl !== "function") {
    checkHeaderValue(cacheControl, "cacheControl");
  }
  const own = Object.entries(options.mediaTypes ?? {});
  for (const [extension, type] of own) checkHeaderValue(type, `mediaTypes.${extension}`);
  return {
    root: { folder: realFolder(root), rules },
    prefix: prefix.replace(/\/+$/, ""),
    index,
    listing,
    spa,
    precompressed,
    cacheControl: typeof cacheControl === "function" ? cacheControl : () => cacheControl,
    mediaTypes: new Map(own.map(([extension, type]) => [extension.toLowerCase(), type])),
    notFound: () =>
      notFound === undefined
        ? refuse(404, "404 page not found")
        : text(notFound, { status: 404, headers: { "content-type": "text/html; charset=utf-8" } }),
  };
}

function realFolder(root: string): string {
  try {
    const folder = realpathSync(root);
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    // The cause adds nothing to the message.
  }
  throw optionError("root", root, "a folder that exists");
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Writes a page of links to a folder's served entries, in order, without symbolic links. */
async function listFolder(folder: string, rules: FilePathRules): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const links = entries
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && isAllowed(entry.name, rules))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted()
    .map((name) => {
      // "./" keeps a colon in a name from being taken for a scheme.
      const target = `./${encodeURIComponent(name).replaceAll("%2F", "/")}`;
      const shown = name.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
      return `<a href="${target.replaceAll("'", "%27")}">${shown}</a>\n`;
    });
  return `<!doctype html>\n<meta charset="utf-8">\n<pre>\n${links.join("")}</pre>\n`;
}
