/** Quotes a text for a POSIX shell, or for one of Windows, as one word. */
export function shellWord(text: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === "win32") return /^[\w@+=:,.\\/-]+$/.test(text) ? text : `"${text}"`;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
