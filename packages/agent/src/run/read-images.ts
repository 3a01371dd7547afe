import { readFile, stat } from "node:fs/promises";
import { optionError } from "../errors.ts";

/** A picture as a model is shown it. */
export interface ImagePart {
  readonly type: "file";
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** Most pictures, and bytes of all: they go along with each question. */
const mostImages = 10;
const mostBytes = 8 * 1024 * 1024;

const kinds: readonly (readonly [mediaType: string, begin: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

/**
 * Reads pictures (PNG, JPEG, GIF, WebP), known by how they begin.
 *
 * @throws AgentUsageError as a rejection for what is none, or too much
 */
export async function readImages(paths: readonly string[]): Promise<readonly ImagePart[]> {
  if (paths.length > mostImages) {
    throw optionError("images", paths.length, `at most ${mostImages} pictures`);
  }
  let room = mostBytes;
  const images: ImagePart[] = [];
  for (const path of paths) {
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    room -= size;
    if (room < 0)
      throw optionError("images", path, `pictures of at most ${mostBytes} bytes together`);
    const bytes = size === 0 ? Buffer.alloc(0) : await readFile(path);
    const begin = bytes.subarray(0, 16).toString("latin1");
    const [mediaType] = kinds.find(([, pattern]) => pattern.test(begin)) ?? [];
    if (mediaType === undefined) throw optionError("images", path, "a PNG, JPEG, GIF or WebP file");
    images.push({ type: "file", mediaType, data: bytes.toString("base64") });
  }
  return images;
}
