import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "fetchwork-secret-"));
let count = 0;
process.once("exit", () => rmSync(folder, { recursive: true }));

/** Writes a secret to a new file, and returns the option that names it. */
export function secretFile(secret: string): readonly ["--secret-file", string] {
  count += 1;
  const file = join(folder, `${count}`);
  writeFileSync(file, `${secret}\n`);
  return ["--secret-file", file];
}
