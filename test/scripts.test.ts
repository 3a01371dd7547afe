import { expect, it } from "vitest";
import { projectManifest } from "../packages/fetchwork/src/new/project-manifest.ts";
import type { ProjectOptions } from "../packages/fetchwork/src/new/project-options.ts";
import { readManifest, readPackages } from "../scripts/workspace-packages.ts";

type Scripts = Readonly<Record<string, string>>;

/** What `cmd.exe` or a POSIX shell does not know, or reads in its own way. */
const notEverywhere = /(?:^|&& )(?:exec |\w+=|\[ |\.\/)|[$%^`';|<>*?~]|(?<!&)&(?!&)/;

const options: ProjectOptions = {
  name: "my-api",
  title: "My API",
  database: "sqlite",
  hasUsers: true,
  passwordResets: false,
  webhooks: false,
  list: "array",
  port: 9000,
};
const made = [false, true].map((pinsNode) => {
  const { scripts } = JSON.parse(projectManifest(options, { pinsNode })) as {
    readonly scripts: Scripts;
  };
  return [`a project ${pinsNode ? "with" : "without"} Node`, scripts] as const;
});
const written = (["packages", "examples"] as const).flatMap((folder) =>
  readPackages(folder).map(({ manifest: { name, scripts = {} } }) => [name, scripts] as const),
);

it.each<readonly [string, Scripts]>([
  ["the root", readManifest(".").scripts ?? {}],
  ...written,
  ...made,
])("the scripts of %s need no POSIX shell", (_, scripts) => {
  const wrong = Object.entries(scripts).filter(([, script]) => notEverywhere.test(script));
  expect(wrong).toEqual([]);
});

it.each([
  "exec node a.js",
  "A=1 node a.js",
  "[ -f a.js ] && node a.js",
  "node a.js && B=1 node b.js",
  "node a.js || node b.js",
  "node a.js & node b.js",
  "node -e 'a()'",
  "node $NAME",
  "node a.js > log",
])("the script %j would be refused", (script) => {
  expect(notEverywhere.test(script)).toBe(true);
});
