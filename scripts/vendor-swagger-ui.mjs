// Takes the files of the reference page from a release of Swagger UI: `npm run vendor:reference --
// 5.35.0`. They are in the repository, since `swagger-ui-dist` as a dependency brings a package
// that reports installs.
import "./require-node.cjs";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const names = [
  "LICENSE",
  "NOTICE",
  "favicon-32x32.png",
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
];
const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  console.error("vendor-swagger-ui: name a version, such as 5.35.0");
  process.exit(2);
}

const folder = fileURLToPath(new URL("../packages/rest/assets/swagger-ui/", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "swagger-ui-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const packed = execFileSync(
  "npm",
  ["pack", `swagger-ui-dist@${version}`, "--json", "--ignore-scripts"],
  { cwd: temporary, encoding: "utf8" },
);
/** @type {readonly { readonly filename: string, readonly integrity: string }[]} */
const [tarball] = JSON.parse(packed);
if (tarball === undefined) throw new Error("npm has packed nothing");
execFileSync("tar", ["-xzf", tarball.filename], { cwd: temporary });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @type {Record<string, string>} */
const sha256 = {};
for (const name of names) {
  const from = join(temporary, "package", name);
  cpSync(from, join(folder, name));
  sha256[name] = createHash("sha256").update(readFileSync(from)).digest("hex");
}
const origin = { package: "swagger-ui-dist", version, integrity: tarball.integrity, sha256 };
writeFileSync(join(folder, "origin.json"), `${JSON.stringify(origin, null, 2)}\n`);
