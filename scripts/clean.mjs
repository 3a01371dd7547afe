// `tsc -b` never deletes the outputs of sources that are gone; `npm pack` would publish them.
import "./require-node.cjs";
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const packages = resolve(import.meta.dirname, "../packages");

for (const name of readdirSync(packages)) {
  const folder = join(packages, name);
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  for (const place of [folder, join(folder, "src/node")]) {
    rmSync(join(place, "tsconfig.tsbuildinfo"), { force: true });
  }
}
