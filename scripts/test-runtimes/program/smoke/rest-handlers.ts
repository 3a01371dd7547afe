import { Problem } from "@fetchwork/rest";
import { mergePatch, requirePreconditions, taggedJson } from "@fetchwork/rest/handlers";
import { expect, type Platform } from "../platform.ts";

/** Answers with entity tags, and refuses what was made of an older answer. */
export function smoke(_platform: Platform): Promise<void> {
  const url = "https://example.com/settings";
  const before = { color: "red", size: 4 };
  const tag = taggedJson(new Request(url), before).headers.get("etag") ?? "";
  const again = new Request(url, { headers: { "if-none-match": tag } });
  expect("the same once more", taggedJson(again, before).status, 304);
  const after = mergePatch(before, { size: 5 });
  const stale = new Request(url, { method: "PATCH", headers: { "if-match": tag } });
  const newTag = taggedJson(new Request(url), after).headers.get("etag") ?? "";
  let refused: unknown;
  try {
    requirePreconditions(stale, newTag);
  } catch (error) {
    refused = error;
  }
  expect("a stale change", refused instanceof Problem && refused.status, 412);
  return Promise.resolve();
}
