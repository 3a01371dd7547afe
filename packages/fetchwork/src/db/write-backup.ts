import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { BackupHeader, BackupLine, BackupTrailer } from "./backup-format.ts";

const OWNER_ONLY = 0o600;

/**
 * Writes a backup under a temporary name and renames it when it is complete on disk; never
 * overwrites a file. A name that ends in `.gz` is compressed.
 */
export async function writeBackup(
  path: string,
  header: BackupHeader,
  documents: AsyncIterable<BackupLine>,
): Promise<BackupTrailer> {
  const part = `${path}.${randomUUID()}.part`;
  let trailer: BackupTrailer = { documents: 0, sha256: "" };
  async function* lines(): AsyncGenerator<string> {
    const hash = createHash("sha256");
    const hashed = (line: string): string => {
      hash.update(line);
      return line;
    };
    let count = 0;
    yield hashed(`${JSON.stringify(header)}\n`);
    for await (const { collection, record } of documents) {
      count += 1;
      yield hashed(`${JSON.stringify({ collection, ...record })}\n`);
    }
    trailer = { documents: count, sha256: hash.digest("hex") };
    yield `${JSON.stringify(trailer)}\n`;
  }
  try {
    const to = createWriteStream(part, { flags: "wx", mode: OWNER_ONLY });
    const from = Readable.from(lines());
    await (path.endsWith(".gz") ? pipeline(from, createGzip(), to) : pipeline(from, to));
    await sync(part);
    // Unlike a rename, a link fails when the name exists.
    await link(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return trailer;
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
