import type { Context } from "@fetchwork/http";
import { empty } from "@fetchwork/http/responses";
import { chooseEncoding } from "../content/compress/accept-encoding.ts";
import { parseRange, type ByteRange } from "./byte-range.ts";
import { fileBody, type BodyPart } from "./file-body.ts";
import { allowsRange, evaluateConditions, type Validators } from "./file-conditions.ts";
import { mediaTypeOf } from "./media-types.ts";
import { openFile, type FileRoot, type OpenFile } from "./open-file.ts";

/** How files are sent. */
export interface SendSettings {
  readonly root: FileRoot;
  readonly precompressed: boolean;
  readonly cacheControl: (path: string) => string | undefined;
  readonly mediaTypes: ReadonlyMap<string, string>;
}

/** A file to send, and to whom. */
export interface FileExchange {
  readonly request: Request;
  readonly context: Context;
  readonly path: string;
  readonly names: readonly string[];
  readonly file: OpenFile;
}

interface Representation {
  readonly file: OpenFile;
  readonly coding: string | undefined;
}

// The preferred one first, by size of what it makes.
const codings = ["br", "zstd", "gzip"] as const;
const extensions = { br: "br", zstd: "zst", gzip: "gz" } as const;

/** Responds with an open file, which is closed whatever happens to the response. */
export async function sendFile(settings: SendSettings, exchange: FileExchange): Promise<Response> {
  const { context, file } = exchange;
  let chosen: Representation = { file, coding: undefined };
  try {
    chosen = await chooseRepresentation(settings, exchange);
    const { handle } = chosen.file;
    const response = respondWith(settings, exchange, chosen);
    if (response.body === null) await handle.close();
    // A middleware may drop the response without reading or cancelling its body.
    else context.onFinish(() => void handle.close());
    return response;
  } catch (error) {
    await chosen.file.handle.close();
    throw error;
  } finally {
    if (chosen.file !== file) await file.handle.close();
  }
}

async function chooseRepresentation(
  { root, precompressed }: SendSettings,
  { request, names, file }: FileExchange,
): Promise<Representation> {
  const plain = { file, coding: undefined };
  // Ranges are of the plain file, so that parts fetched with different codings fit together.
  if (!precompressed || request.headers.has("range")) return plain;
  const accepted = request.headers.get("accept-encoding");
  const left: (typeof codings)[number][] = [...codings];
  for (;;) {
    const coding = chooseEncoding(accepted, left);
    if (coding === undefined) return plain;
    const name = `${names.at(-1) ?? ""}.${extensions[coding]}`;
    const found = await openFile(root, [...names.slice(0, -1), name]);
    if (found !== undefined && "handle" in found) {
      // One that is older was made of another version.
      if (found.modified >= file.modified) return { file: found, coding };
      await found.handle.close();
    }
    left.splice(left.indexOf(coding), 1);
  }
}

function respondWith(
  settings: SendSettings,
  { request, path, names }: FileExchange,
  { file, coding }: Representation,
): Response {
  const { size } = file;
  const validators = validatorsOf(file, coding);
  const headers = new Headers({
    "accept-ranges": "bytes",
    "content-type": mediaTypeOf(names.at(-1) ?? "", settings.mediaTypes),
    etag: validators.etag,
    "last-modified": new Date(validators.modified * 1000).toUTCString(),
    "x-content-type-options": "nosniff",
  });
  if (settings.precompressed) headers.set("vary", "Accept-Encoding");
  const cacheControl = settings.cacheControl(path);
  if (cacheControl !== undefined) headers.set("cache-control", cacheControl);

  const status = evaluateConditions(request.headers, validators);
  if (status !== undefined) {
    headers.delete("content-type");
    return empty(status, { headers });
  }
  if (coding !== undefined) headers.set("content-encoding", coding);
  const isHead = request.method === "HEAD";
  const ranges =
    !isHead && coding === undefined && allowsRange(request.headers, validators)
      ? parseRange(request.headers.get("range"), size)
      : undefined;
  if (ranges === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    headers.delete("content-type");
    return empty(416, { headers });
  }
  if (ranges !== undefined) return respondWithRanges(file, headers, ranges);
  headers.set("content-length", String(size));
  if (isHead || size === 0) return new Response(null, { headers });
  return new Response(fileBody(file.handle, [{ start: 0, end: size - 1 }]), { headers });
}

function respondWithRanges(
  { handle, size }: OpenFile,
  headers: Headers,
  ranges: readonly ByteRange[],
): Response {
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined) {
    headers.set("content-range", contentRange(only, size));
    headers.set("content-length", String(only.end - only.start + 1));
    return new Response(fileBody(handle, [only]), { status: 206, headers });
  }
  const boundary = crypto.randomUUID();
  const type = headers.get("content-type") ?? "";
  const encoder = new TextEncoder();
  const parts = ranges.flatMap((range, index): BodyPart[] => {
    const lead = index === 0 ? "" : "\r\n";
    const head = `${lead}--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${contentRange(range, size)}\r\n\r\n`;
    return [encoder.encode(head), range];
  });
  parts.push(encoder.encode(`\r\n--${boundary}--\r\n`));
  const length = parts.reduce(
    (sum, part) => sum + (part instanceof Uint8Array ? part.byteLength : part.end - part.start + 1),
    0,
  );
  headers.set("content-type", `multipart/byteranges; boundary=${boundary}`);
  headers.set("content-length", String(length));
  return new Response(fileBody(handle, parts), { status: 206, headers });
}

function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end}/${size}`;
}

function validatorsOf({ size, modified }: OpenFile, coding: string | undefined): Validators {
  const suffix = coding === undefined ? "" : `-${coding}`;
  return {
    etag: `W/"${size.toString(16)}-${Math.floor(modified).toString(16)}${suffix}"`,
    modified: Math.floor(modified / 1000),
  };
}
