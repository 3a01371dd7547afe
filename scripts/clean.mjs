// `tsc -b` never deletes the outputs of sources that are gone; `npm pack` would publish them.
import "./require-node.cjs";
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const packages = resolve(import.meta.dirname, "../packages");

for (const name of readdirSync(packages)) {
  rmSync(join(packages, name, "dist"), { recursive: true, force: true });
}

// A build info without its outputs would make the next build believe that there is nothing to do.
for (const file of readdirSync(packages, { encoding: "utf8", recursive: true })) {
  if (file.endsWith(".tsbuildinfo")) rmSync(join(packages, file));
}
