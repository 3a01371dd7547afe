// The blog is what the commands make. By hand:
//   npm run blog            writes examples/blog anew from the templates
//   npm run blog -- --take  takes what was changed in examples/blog into the templates
import "./require-node.cjs";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const { blogFiles, templatePaths } = await import("./blog-files.ts");
const root = path.resolve(import.meta.dirname, "..");
const blog = path.join(root, "examples/blog");

if (process.argv.includes("--take")) take();
else write();

function write() {
  const made = blogFiles();
  for (const [file, text] of made) {
    if (/^<{7} /m.test(text)) throw new Error(`the template of ${file} has conflicts`);
  }
  for (const [file, text] of made) {
    const target = path.join(blog, file);
    if (existsSync(target) && readFileSync(target, "utf8") === text) continue;
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
    console.log(`written  examples/blog/${file}`);
  }
}

/** Merges: what the template makes is the common ancestor of the template and of the changed file. */
function take() {
  const folder = mkdtempSync(path.join(tmpdir(), "blog-"));
  const templates = templatePaths();
  let conflicts = 0;
  for (const [file, made] of blogFiles()) {
    const changed = path.join(blog, file);
    const template = templates.get(file);
    if (!existsSync(changed)) console.log(`gone     examples/blog/${file}`);
    else if (readFileSync(changed, "utf8") === made) continue;
    else if (template === undefined) console.log(`made by code, to be changed there: ${file}`);
    else {
      const ancestor = path.join(folder, "ancestor");
      writeFileSync(ancestor, made);
      const { status } = spawnSync("git", ["merge-file", "--quiet", template, ancestor, changed]);
      if (status !== 0) conflicts += 1;
      const label = status === 0 ? "taken   " : "conflict";
      console.log(`${label} ${path.relative(root, template)}`);
    }
  }
  rmSync(folder, { recursive: true });
  const made = blogFiles();
  for (const file of globSync("src/**/*.ts", { cwd: blog })) {
    if (!made.has(file)) console.log(`of no template: ${file}`);
  }
  process.exitCode = conflicts === 0 ? 0 : 1;
}
