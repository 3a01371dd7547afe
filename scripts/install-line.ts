/** The shell command that installs tarballs in the project of the working folder. */
export function installLine(tarballs: readonly string[]): string {
  return ["npm install", ...tarballs.map(quote)].join(" ");
}

/** A path as one word of a POSIX shell. */
function quote(path: string): string {
  return /^[\w./@+,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
