import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expand } from "../src/index.ts";

interface Group {
  readonly variables: Readonly<Record<string, never>>;
  readonly testcases: readonly (readonly [string, string | readonly string[] | false])[];
}

const folder = join(process.env["FETCHWORK_VECTORS"] ?? "", "uri-template");
const files = existsSync(folder)
  ? readdirSync(folder).filter((name) => name.endsWith(".json"))
  : [];

describe.skipIf(files.length === 0)(
  `vectors of ${folder} below FETCHWORK_VECTORS (skipped where it does not exist)`,
  () => {
    describe.each(files)("%s", (file) => {
      const groups = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<string, Group>;
      for (const [title, { variables, testcases }] of Object.entries(groups)) {
        it.each(testcases)(`${title}: %s`, (template, expected) => {
          // `false` is a template or a value that has to be refused.
          if (expected === false) expect(() => expand(template, variables)).toThrow(TypeError);
          else expect([expected].flat()).toContain(expand(template, variables));
        });
      }
    });
  },
);
