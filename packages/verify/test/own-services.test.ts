import { expect, it } from "vitest";
import { app as blog } from "../../../examples/blog/src/app.ts";
import { app as notes } from "../../service/test/notes-service.ts";
import { verifyService } from "../src/index.ts";

it("verifyService() finds nothing in the blog", async () => {
  const { findings, reads, requests, skipped } = await verifyService(blog, { scale: 5000 });
  expect(findings).toEqual([]);
  expect(skipped).toEqual([]);
  expect(requests).toBeGreaterThan(1000);
  expect(reads["user"]?.["user"]).toEqual(["name", "picture"]);
  expect(reads["user"]?.["owner"]).toContain("email");
  expect(reads["article"]?.["anonymous"]).toEqual(expect.arrayContaining(["title", "content"]));
});

it("verifyService() finds nothing in a service with a route, a job and a receiver of its own", async () => {
  const { findings } = await verifyService(notes);
  expect(findings).toEqual([]);
});
