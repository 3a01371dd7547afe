// The blog is what the commands make: `npm run blog` writes examples/blog again from the templates.
import "./require-node.cjs";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const { blogFiles } = await import("./blog-files.ts");
const blog = path.resolve(import.meta.dirname, "../examples/blog");

for (const [file, text] of await blogFiles()) {
  const target = path.join(blog, file);
  if (existsSync(target) && readFileSync(target, "utf8") === text) continue;
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  console.log(`written  examples/blog/${file}`);
}
