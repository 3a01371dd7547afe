import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { article } from "../src/api/article/model.ts";
import { greeting } from "../../../packages/service/src/greeting/greeting.ts";

it("the README of the repository says what the start prints", () => {
  const readme = readFileSync(path.join(import.meta.dirname, "../../../README.md"), "utf8");
  const masterKey = "a1".repeat(24);
  const text = greeting({
    title: "Blog",
    server: { url: "http://localhost:9000/" },
    databaseUrl: "sqlite:/work/examples/blog/data/blog.db",
    masterKey,
    environmentFile: { path: "/work/examples/blog/.env", text: `MASTER_KEY=${masterKey}\n` },
    projectFolder: "/work/examples/blog",
    workingFolder: "/work",
    resources: [article],
    accounts: { signIn: "master", signUp: "master", mails: undefined, linkOrigins: undefined },
  });
  const lines = text.match(/^ {2}\S.*$/gm)?.map((line) => line.trim()) ?? [];
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(readme).toContain(`\n${line}\n`);
});
