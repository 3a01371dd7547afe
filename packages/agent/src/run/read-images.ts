import { readFile, stat } from "node:fs/promises";
import { optionError } from "../errors.ts";

/** A picture as a model is shown it. */
export interface ImagePart {
  readonly type: "file";
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** Maximum pictures, and bytes of all: they go along with each question. */
const maxImages = 10;
const maxBytes = 8 * 1024 * 1024;

/** The first bytes of each kind, in hexadecimal. */
const kinds: readonly (readonly [mediaType: string, begin: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^47494638(?:37|39)61/],
  ["image/webp", /^52494646.{8}57454250/],
];

/**
 * Reads pictures (PNG, JPEG, GIF, WebP), known by how they begin.
 *
 * @throws AgentUsageError as a rejection for what is none, or too much
 */
export async function readImages(paths: readonly string[]): Promise<readonly ImagePart[]> {
  if (paths.length > maxImages) {
    throw optionError("images", paths.length, `at most ${maxImages} pictures`);
  }
  let room = maxBytes;
  const images: ImagePart[] = [];
  for (const path of paths) {
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    room -= size;
    if (room < 0)
      throw optionError("images", path, `pictures of at most ${maxBytes} bytes together`);
    const bytes = size === 0 ? Buffer.alloc(0) : await readFile(path);
    const begin = bytes.subarray(0, 16).toString("hex");
    const [mediaType] = kinds.find(([, pattern]) => pattern.test(begin)) ?? [];
    if (mediaType === undefined) throw optionError("images", path, "a PNG, JPEG, GIF or WebP file");
    images.push({ type: "file", mediaType, data: bytes.toString("base64") });
  }
  return images;
}
