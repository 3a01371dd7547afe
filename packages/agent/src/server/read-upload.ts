import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { validateFilePath } from "../files/file-path.ts";
import { HttpFailure, invalid, saysMoreThan, tooLarge } from "./http-failure.ts";
import type { NewFile } from "./put-file.ts";

/** An upload that is on the disk. */
export interface Upload extends AsyncDisposable {
  readonly file: NewFile;
}

/** Bytes that the frame of a file may have. */
const largestFrame = 65_536;

interface ReceivedFile {
  readonly name: string;
  readonly size: number;
  readonly hash: string;
}

/**
 * Reads an upload (`multipart/form-data`, RFC 7578): the file in `file`, its folder in
 * `relative_path`. The file goes to the disk as it comes, under a name of ours. It is removed when
 * the upload is disposed of.
 *
 * @throws HttpFailure 413 beyond the limit, 415 for another type of content, 422 for everything
 * else
 */
export async function readUpload(request: Request, limit: number): Promise<Upload> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new HttpFailure(415, "content_type", "multipart/form-data is expected");
  }
  if (request.body === null) throw invalid("there is no file");
  if (saysMoreThan(limit + largestFrame, request)) throw fileTooLarge(limit);
  const place = join(tmpdir(), `fetchwork-upload-${randomUUID()}`);
  const dispose = (): Promise<void> => rm(place, { force: true });
  try {
    const { received, folder } = await receive(request.body, { type, place, limit });
    const { hash, size, name } = received;
    const content = { hash, size, pieces: () => createReadStream(place) };
    const { path, relativePath } = pathOf(name, folder);
    return { file: { path, folder: relativePath, content }, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function receive(
  body: ReadableStream<Uint8Array>,
  { type, place, limit }: { readonly type: string; readonly place: string; readonly limit: number },
): Promise<{ readonly received: ReceivedFile; readonly folder: string | undefined }> {
  let parser;
  try {
    parser = new Busboy({
      headers: { "content-type": type },
      limits: {
        fileSize: limit,
        files: 1,
        fields: 8,
        fieldNameSize: 100,
        fieldSize: 4_096,
        parts: 10,
        headerPairs: 20,
        headerSize: 8_192,
      },
    });
  } catch {
    throw invalid("the multipart body has no boundary");
  }
  let file: Readable | undefined;
  let storing: Promise<ReceivedFile> | undefined;
  let folder: string | undefined;
  let problem: HttpFailure | undefined;
  const refuse = (failure: HttpFailure): void => {
    problem ??= failure;
  };
  parser.on("field", (name: string, value: string, ...rest: readonly unknown[]) => {
    const [isNameCut, isValueCut] = rest;
    if (isNameCut === true || isValueCut === true) refuse(invalid("a field is too long"));
    else if (name === "relative_path" && folder === undefined) folder = value;
    else if (name === "relative_path") refuse(invalid("relative_path is there twice"));
  });
  parser.on("file", (field: string, stream: Readable, name: string | undefined) => {
    if (field !== "file") {
      stream.resume();
      return refuse(invalid(`the file must be in the field "file"`));
    }
    stream.once("limit", () => refuse(fileTooLarge(limit)));
    file = stream;
    storing = store(stream, { place, name: name ?? "" });
    // The code below that waits for it may not be reached.
    storing.catch(() => undefined);
  });
  parser.on("filesLimit", () => refuse(invalid("there is more than one file")));
  parser.on("partsLimit", () => refuse(invalid("there are too many parts")));
  parser.on("fieldsLimit", () => refuse(invalid("there are too many fields")));
  try {
    await pipeline(limitedTo(limit, body), parser);
  } catch (error) {
    // The parser leaves it open, and it would keep the one on the disk.
    file?.destroy();
    await storing?.catch(() => undefined);
    throw error instanceof HttpFailure ? error : invalid("the multipart body is malformed");
  }
  if (problem !== undefined) throw problem;
  const received = await storing;
  if (received === undefined) throw invalid(`the file must be in the field "file"`);
  return { received, folder };
}

/**
 * The body until it is longer than a file and its frame can be.
 *
 * @yields Each chunk.
 */
async function* limitedTo(
  limit: number,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limit + largestFrame) throw fileTooLarge(limit);
    yield chunk;
  }
}

async function store(
  stream: Readable,
  { place, name }: { readonly place: string; readonly name: string },
): Promise<ReceivedFile> {
  const hash = createHash("sha256");
  let size = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.byteLength;
      done(null, chunk);
    },
  });
  await pipeline(stream, count, createWriteStream(place, { flags: "wx", mode: 0o600 }));
  return { name, size, hash: hash.digest("hex") };
}

/** Where an upload goes. The name counts without folders, whatever system it comes from. */
function pathOf(
  name: string,
  folder: string | undefined,
): { readonly path: string; readonly relativePath: string | null } {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const isRoot = folder === undefined || folder === "" || folder === "." || folder === "./";
  const joined = isRoot ? base : `${folder.replace(/\/+$/, "")}/${base}`;
  // The whole path is checked, so no part of it can lead elsewhere.
  const checked = validateFilePath(base === "" ? "" : joined);
  if (!checked.ok) throw invalid(`the file cannot be stored: ${checked.reason}`);
  const { path } = checked;
  const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  return { path, relativePath: folder === undefined || folder === "" ? null : parent };
}

function fileTooLarge(limit: number): HttpFailure {
  return tooLarge(`a file has at most ${limit} bytes`);
}
