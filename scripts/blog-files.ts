import { addResource } from "../packages/fetchwork/src/add/add-resource.ts";
import { definitionOf } from "../packages/fetchwork/src/add/add.ts";
import { projectFiles } from "../packages/fetchwork/src/new/project-files.ts";
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
export async function blogFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [path, { text }] of await projectFiles(options, { kind: "workspace" }))
    files.set(path, text);
  const definition = definitionOf(article, { hasUsers: true, hasWebhooks: true, list: "array" });
  for (const [path, text] of addResource(definition, {
    parts: { jobs: [], receivers: [], resources: [], routes: [] },
    read: (path) => files.get(path),
  })) {
    files.set(path, text);
  }
  return files;
}
