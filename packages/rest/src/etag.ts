import { hash } from "node:crypto";
import { empty, text } from "@fetchwork/http";
import { Problem } from "./problem.ts";

/** Fields that distinguish a version of a document from those of earlier documents with its id. */
interface Versioned {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
}

/**
 * Makes the entity tag of a document: its version, and when it was added, unless its id says that.
 * So the tag of a removed document never is that of one that is added with its id later.
 *
 * @param document - The document as the store has it, or the version of something else whose id is
 * not used again.
 * @param variant - Tells apart what one address shows to different callers.
 */
export function etagOf(document: Versioned | number, variant?: string): string {
  const version = typeof document === "number" ? String(document) : versionOf(document);
  return variant === undefined ? `"${version}"` : `"${version}-${variant}"`;
}

function versionOf({ id, version, createdAt }: Versioned): string {
  const time = Date.parse(createdAt);
  // A UUIDv7 begins with the time at which it was made.
  const isMadeThen = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) === time;
  return isMadeThen ? String(version) : `${version}.${time.toString(36)}`;
}

/** Makes the entity tag of a response without a version, such as a list: a hash of its content. */
export function contentTag(content: string): string {
  return `"${hash("sha1", content, "base64url")}"`;
}

/** Makes the entity tag of a JSON value that has no version: a hash of its text. */
export function jsonTag(value: unknown): string {
  return contentTag(JSON.stringify(value) ?? "");
}

/**
 * Makes the JSON response of a custom route, with the `ETag` of its content, for values without a
 * version. Changes of the same value then call `requirePreconditions(request, jsonTag(current))`,
 * and `If-Match` works for them.
 *
 * A GET whose `If-None-Match` holds gets a 304.
 *
 * @throws Problem 412 for a GET whose `If-Match` does not hold.
 * @example
 * ```ts
 * show: async ({ params, request }) => taggedJson(request, await endpoints.get(params["id"] ?? "")),
 * ```
 */
export function taggedJson(request: Request, value: unknown, init: ResponseInit = {}): Response {
  const body = JSON.stringify(value) ?? "";
  const etag = contentTag(body);
  const headers = new Headers(init.headers);
  headers.set("etag", etag);
  if (request.method === "GET" || request.method === "HEAD") {
    requirePreconditions(request, etag);
    if (noneMatchHolds(request.headers.get("if-none-match"), etag)) return empty(304, { headers });
  }
  headers.set("content-type", "application/json");
  return text(body, { ...init, headers });
}

/** Whether `If-None-Match` holds the current tag, compared weakly (RFC 9110 section 13.1.2). */
export function noneMatchHolds(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags = parse(header);
  return tags === "*" || tags.some((tag) => tag.replace(/^W\//, "") === etag);
}

/**
 * Applies `If-Match` (compared strongly) to the current tag and, for a method that changes
 * something, `If-None-Match` too (RFC 9110 sections 13.1.1, 13.1.2 and 13.2.2).
 *
 * @throws Problem 412 when one of them does not hold.
 */
export function requirePreconditions(request: Request, etag: string): void {
  const ifMatch = request.headers.get("if-match");
  if (ifMatch !== null) {
    const tags = parse(ifMatch);
    if (tags !== "*" && !tags.some((tag) => ofDocument(tag) === ofDocument(etag))) {
      throw preconditionFailed(etag);
    }
  }
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (
    !isRead &&
    noneMatchHolds(ofDocument(request.headers.get("if-none-match")), ofDocument(etag))
  ) {
    throw preconditionFailed(etag);
  }
}

/**
 * Leaves the version of the owner out of entity tags, as in `"3~7"`. A change depends on the
 * document alone: it is not refused because the owner has another name now.
 */
function ofDocument<T extends string | null>(tags: T): string | T {
  return tags?.replaceAll(/"(\d[^"~]*)~[^"~]*"/g, '"$1"') ?? tags;
}

function preconditionFailed(etag: string): Problem {
  return new Problem(412, { detail: "the document is of another version", headers: { etag } });
}

/** A list of entity tags; one may have a comma (RFC 9110 section 8.8.3). */
function parse(header: string): "*" | readonly string[] {
  if (header.trim() === "*") return "*";
  return header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\u{10ffff}]*"/gu) ?? [];
}
