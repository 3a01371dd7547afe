import { openStore } from "@fetchwork/documents";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { app as blog } from "../../../examples/blog/src/app.ts";
import { verifyService } from "../src/index.ts";

it("verifyService() refuses a database that has documents, and leaves them there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "verify-database-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = `sqlite:${join(folder, "blog.db")}`;
  const { collections } = blog;
  const [articles] = collections.filter(({ name }) => name === "articles");
  if (articles === undefined) throw new Error("the blog has articles");
  const before = await openStore(database, { collections });
  await before.collection(articles).insert({ title: "kept" });
  await before.close();
  await expect(verifyService(blog, { database })).rejects.toThrow(
    "the database has documents in articles: expected an empty one",
  );
  const after = await openStore(database, { collections });
  expect(await after.collection(articles).count()).toBe(1);
  await after.close();
});
