import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgent, readTranscriptHead, replaying, type ModelProvider } from "@fetchwork/agent";

/** What the agent is asked for. The answers of the transcript are those to this question. */
export const prompt = [
  "A resource of short notes for a REST API, described for the command `fetchwork add`:",
  'one file resource.json with the members "name" (a word in the singular) and "fields" (a list of',
  'texts such as "title:string!"). A note has a required text, which is searched, and may be pinned.',
].join("\n");

/** A resource as `fetchwork add` takes it. */
export interface ResourceWish {
  readonly name: string;
  readonly fields: readonly string[];
}

/**
 * Asks the agent for a resource; its answers come from a transcript that says that a person wrote
 * it.
 */
export async function askAgent(transcript: string, folder: string): Promise<ResourceWish> {
  const { source } = await readTranscriptHead(transcript);
  assert.equal(source, "scripted");
  await writeFiles(replaying(transcript), folder);
  return readWish(await readFile(join(folder, "resource.json"), "utf8"));
}

/** Lets the agent write its files. */
export async function writeFiles(provider: ModelProvider, folder: string): Promise<void> {
  // One call at a time, so that a transcript has the same order each time.
  const agent = createAgent({ provider, model: "scripted", concurrency: 1 });
  const { ok, diagnostics } = await agent.run({ prompt, out: folder }).result;
  assert.ok(ok, JSON.stringify(diagnostics));
}

function readWish(text: string): ResourceWish {
  const { name, fields } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  assert.ok(typeof name === "string", "the resource has no name");
  assert.ok(Array.isArray(fields), "the resource has no fields");
  return { name, fields: fields.map(String) };
}
