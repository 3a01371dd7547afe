import { shellWord } from "../packages/fetchwork/src/command/shell-word.ts";

/** The shell command that installs tarballs in the project of the working folder. */
export function installLine(tarballs: readonly string[]): string {
  return ["npm install", ...tarballs.map((file) => shellWord(file))].join(" ");
}
