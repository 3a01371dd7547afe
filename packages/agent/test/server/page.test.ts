import { expect, it } from "vitest";
import { bodyOf, post, startTasks } from "./task-world.ts";

it("the page allows scripts and styles of its server only", async () => {
  const { url, ask } = await startTasks();
  const response = await fetch(url);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(response.headers.get("x-frame-options")).toBe("DENY");
  const html = await response.text();
  expect(html).not.toMatch(/https?:\/\/|<script>|<style|\son\w+=/);
  const etag = response.headers.get("etag") ?? "";
  expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
  await bodyOf(await ask("/tasks", post({ input: "x" })));
});
