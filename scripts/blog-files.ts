import { join } from "node:path";
import { addResource } from "../packages/fetchwork/src/add/add-resource.ts";
import { definitionOf } from "../packages/fetchwork/src/add/add.ts";
import {
  projectFiles,
  readTemplates,
  templateFolder,
} from "../packages/fetchwork/src/new/project-files.ts";
import type { ProjectOptions } from "../packages/fetchwork/src/new/project-options.ts";

/** The words that make the blog: `fetchwork new blog --auth password,oidc --password-resets --webhooks`. */
const options: ProjectOptions = {
  name: "blog",
  title: "Blog",
  database: "sqlite",
  auth: ["password", "oidc"],
  passwordResets: true,
  webhooks: true,
  list: "array",
  port: 9000,
};

/** And `fetchwork add article title:string!:search,sort content:text:search --owner-field author`. */
const article = {
  name: "article",
  fields: ["title:string!:search,sort", "content:text:search"],
  options: { "owner-field": "author" },
};

/** Files of the blog that its commands make; its others are tests of the repository. */
export function blogFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [path, { text }] of projectFiles(options, { kind: "workspace" }))
    files.set(path, text);
  const definition = definitionOf(article, { hasUsers: true, hasWebhooks: true, list: "array" });
  for (const [path, text] of addResource(definition, {
    folders: [],
    read: (path) => files.get(path),
  })) {
    files.set(path, text);
  }
  return files;
}

/** Files of the templates, by the paths that they make. */
export function templatePaths(): ReadonlyMap<string, string> {
  return new Map(
    [...readTemplates().keys()].map((path) => [
      path,
      join(templateFolder, path.replace(/(^|\/)\./, "$1dot-")),
    ]),
  );
}
