/** A file of an archive. */
export interface ArchivedFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly content: AsyncIterable<Uint8Array>;
}

const block = 512;

/**
 * Writes files as a tar archive (POSIX pax: long and non-ASCII names are whole), one after another
 * as it is read.
 *
 * @yields The bytes of the archive.
 */
export async function* writeArchive(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { path, size, time, content } of files) {
    const name = Buffer.from(path);
    if (name.byteLength > 100 || name.byteLength !== path.length) {
      const record = paxRecord("path", path);
      yield header({ name: "PaxHeader", size: record.byteLength, time, type: "x" });
      yield padded(record);
    }
    yield header({ name: path, size, time, type: "0" });
    let written = 0;
    for await (const chunk of content) {
      written += chunk.byteLength;
      yield chunk;
    }
    // A wrong size would make the rest of the archive unreadable without anybody noticing.
    if (written !== size) throw new Error(`a file has ${written} bytes instead of ${size}`);
    if (size % block !== 0) yield new Uint8Array(block - (size % block));
  }
  yield new Uint8Array(2 * block);
}

function header({
  name,
  size,
  time,
  type,
}: {
  readonly name: string;
  readonly size: number;
  readonly time: number;
  readonly type: "0" | "x";
}): Uint8Array {
  const bytes = Buffer.alloc(block);
  // The pax record before it has the whole name; what is cut here is for old programs.
  bytes.write(name, 0, 100, "utf8");
  bytes.write("0000644\0", 100, "latin1");
  bytes.write("0000000\0", 108, "latin1");
  bytes.write("0000000\0", 116, "latin1");
  bytes.write(`${size.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  bytes.write(`${Math.floor(time).toString(8).padStart(11, "0")}\0`, 136, "latin1");
  bytes.write("        ", 148, "latin1");
  bytes.write(type, 156, "latin1");
  bytes.write("ustar\x0000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function padded(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.ceil(bytes.byteLength / block) * block);
  whole.set(bytes);
  return whole;
}
