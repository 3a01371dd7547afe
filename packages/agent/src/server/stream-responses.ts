import { ReadableStream } from "node:stream/web";
import type { Stored } from "@fetchwork/documents";
import { readContent } from "./content-parts.ts";
import { writeEvents, type EventSelection } from "./event-stream.ts";
import { invalid, notFound } from "./http-failure.ts";
import type { TaskBus } from "./task-bus.ts";
import type { ArtifactRecord, FileVersion } from "./task-records.ts";
import type { TaskStore } from "./task-store.ts";
import { unifiedDiff } from "../workspace/unified-diff.ts";
import { writeArchive, type ArchivedFile } from "./write-archive.ts";

/** Bytes of a file that is compared with another version. */
const largestCompared = 2_097_152;

/**
 * Sends a file, or the version of it that `?version=` names. Nothing of it runs in a browser.
 *
 * @throws HttpFailure 422 for an impossible version, 404 for one that there is not
 */
export function downloadResponse(
  request: Request,
  artifact: Stored<ArtifactRecord>,
  { contents }: TaskStore,
): Response {
  const { taskId, path } = artifact;
  const version = versionOf(request, "version", artifact) ?? artifact.versions.at(-1);
  if (version === undefined) throw notFound("artifact");
  const content = readContent(contents, { taskId, ...version });
  const headers = {
    "content-type": "application/octet-stream",
    "content-length": String(version.size),
    "content-disposition": attachment(path.slice(path.lastIndexOf("/") + 1)),
    "content-security-policy": "sandbox; default-src 'none'",
    etag: `"${version.hash}"`,
  };
  return new Response(request.method === "HEAD" ? null : toStream(content), { headers });
}

/**
 * Sends what a file's version changed since the older one that `?since=` names, as `diff -u` writes
 * it; undefined: no older one is named.
 *
 * @throws HttpFailure 422 for an impossible version and for files that are too long, 404 for a
 * version that there is not
 */
export async function changesResponse(
  request: Request,
  artifact: Stored<ArtifactRecord>,
  { contents }: TaskStore,
): Promise<Response | undefined> {
  const { taskId, path, versions } = artifact;
  const old = versionOf(request, "since", artifact);
  const fresh = versionOf(request, "version", artifact) ?? versions.at(-1);
  if (old === undefined || fresh === undefined) return undefined;
  if (Math.max(old.size, fresh.size) > largestCompared) {
    throw invalid(`files of at most ${largestCompared} bytes are compared`);
  }
  const [before = Buffer.alloc(0), after = Buffer.alloc(0)] = await Promise.all(
    [old, fresh].map(async (version) =>
      Buffer.concat(await Array.fromAsync(readContent(contents, { taskId, ...version }))),
    ),
  );
  const diff = [before, after].some((bytes) => bytes.includes(0))
    ? `Binary files a/${path} and b/${path} differ\n`
    : unifiedDiff(path, before.toString(), after.toString());
  const headers = {
    "content-type": "text/x-diff; charset=utf-8",
    "content-security-policy": "sandbox; default-src 'none'",
  };
  return new Response(request.method === "HEAD" ? null : diff, { headers });
}

/** The version of a file that a parameter names; undefined: it names none. */
function versionOf(
  request: Request,
  name: "version" | "since",
  { versions }: ArtifactRecord,
): FileVersion | undefined {
  const wanted = new URL(request.url).searchParams.get(name);
  if (wanted === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(wanted)) throw invalid(`${name} must be a whole number from 1`);
  const version = versions[Number(wanted) - 1];
  if (version === undefined) throw notFound("artifact");
  return version;
}

/** Sends all files of a task as a tar archive, in the order of their paths. */
export async function archiveResponse(taskId: string, store: TaskStore): Promise<Response> {
  const artifacts = await store.artifacts.find({ where: { taskId }, sort: ["path"] });
  const files = artifacts.flatMap(({ path, versions, updatedAt }): readonly ArchivedFile[] => {
    const version = versions.at(-1);
    if (version === undefined) return [];
    const content = readContent(store.contents, { taskId, ...version });
    return [{ path, size: version.size, time: Date.parse(updatedAt) / 1_000, content }];
  });
  const headers = {
    "content-type": "application/x-tar",
    "content-disposition": attachment(`${taskId}.tar`),
  };
  return new Response(toStream(writeArchive(files)), { headers });
}

/** Sends events until there are no more. */
export function eventsResponse(
  parts: { readonly store: TaskStore; readonly bus: TaskBus },
  selection: EventSelection,
): Response {
  const encoder = new TextEncoder();
  const encoded = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const text of writeEvents(parts, selection)) yield encoder.encode(text);
  };
  const headers = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    // Some proxies collect responses until they are whole.
    "x-accel-buffering": "no",
  };
  return new Response(toStream(encoded()), { headers });
}

/** The header of a download (RFC 6266), with the name also for programs that know ASCII only. */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** Reads one piece when somebody wants it, and ends the source when nobody does any more. */
function toStream(source: AsyncIterable<Uint8Array>): BodyInit {
  // The types of Node and of the platform differ in a BYOB reader, which it has none of.
  return ReadableStream.from(source) as unknown as BodyInit;
}
