import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import {
  type BackupHeader,
  type BackupLine,
  type BackupTrailer,
  parseHeader,
  parseLine,
} from "./backup-format.ts";

/** A document of 16 MiB can be longer as a line, because its text is escaped again. */
const MAX_LINE = 128 * 1024 * 1024;
const NEWLINE = 10;

/**
 * Reads a backup from beginning to end.
 *
 * @yields The first line, then each document.
 * @throws When a line is malformed; and at the end, when the last line is missing or has another
 *   number of documents or another checksum.
 */
export async function* readBackup(path: string): AsyncGenerator<BackupHeader | BackupLine> {
  const hash = createHash("sha256");
  let documents = 0;
  let number = 0;
  let trailer: BackupTrailer | undefined;
  for await (const line of readLines(path)) {
    number += 1;
    if (trailer !== undefined)
      throw new Error(`the backup continues after its last record, line ${number}`);
    const parsed = atLine(number, () => (number === 1 ? parseHeader : parseLine)(line.toString()));
    if ("sha256" in parsed) {
      trailer = parsed;
      continue;
    }
    hash.update(line).update("\n");
    if ("record" in parsed) documents += 1;
    yield parsed;
  }
  if (trailer === undefined) throw new Error("the backup is truncated: its last line is missing");
  if (trailer.documents !== documents) {
    throw new Error(
      `the backup has ${documents} documents, but its last line counts ${trailer.documents}`,
    );
  }
  if (trailer.sha256 !== hash.digest("hex")) {
    throw new Error("the backup was changed: its checksum does not match");
  }
}

async function* readLines(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(path)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      yield Buffer.concat(parts);
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > MAX_LINE) throw new Error("a line of the backup is longer than 128 MiB");
  }
  if (length > 0) throw new Error("the backup is truncated: its last line has no end");
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  const gunzip = path.endsWith(".gz") ? createGunzip() : undefined;
  if (gunzip !== undefined) {
    file.on("error", (error) => gunzip.destroy(error));
    file.pipe(gunzip);
  }
  try {
    for await (const chunk of gunzip ?? file) {
      if (!Buffer.isBuffer(chunk))
        throw new Error("the file stream returned text instead of bytes");
      yield chunk;
    }
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), "code");
    if (typeof code !== "string" || !code.startsWith("Z_")) throw error;
    const reason = code === "Z_BUF_ERROR" ? "truncated" : "damaged";
    throw new Error(`the backup is ${reason}: it cannot be decompressed`, { cause: error });
  } finally {
    file.destroy();
    gunzip?.destroy();
  }
}

function atLine<R>(number: number, work: () => R): R {
  try {
    return work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}, line ${number}`, { cause: error });
  }
}
