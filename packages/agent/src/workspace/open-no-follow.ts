import { constants, lstat, open, type FileHandle } from "node:fs/promises";

/**
 * Opens a file, and fails with `ELOOP` where a link is in its place. Windows has no flag for that:
 * there it is looked for a moment before.
 */
export async function openNoFollow(
  place: string,
  flags: number,
  {
    mode,
    noFollow = constants.O_NOFOLLOW ?? 0,
  }: { readonly mode?: number; readonly noFollow?: number } = {},
): Promise<FileHandle> {
  if (noFollow === 0 && (await lstat(place).catch(() => undefined))?.isSymbolicLink() === true) {
    throw Object.assign(new Error(`${place} is a link`), { code: "ELOOP" });
  }
  return open(place, flags | noFollow, mode);
}
