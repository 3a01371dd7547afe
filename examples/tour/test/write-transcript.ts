import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAICompatible, recording } from "@fetchwork/agent";
import { startModelServer } from "../../../packages/agent/test/model-server.ts";
import { projectScript } from "../../../packages/agent/test/project-script.ts";
import { prompt, writeFiles } from "../src/agent.ts";

/** The transcript that the tour replays. */
export const notesTranscript: string = join(import.meta.dirname, "../transcripts/notes.ndjson");

/** The description that a person wrote. */
export const notes = `{
  "name": "note",
  "fields": ["text:string!:search", "pinned:boolean:filter"]
}
`;

/**
 * Writes a transcript with a description of a resource. A person wrote the answers, and the file
 * says so.
 */
export async function writeTranscript(file: string, resource: string): Promise<void> {
  const script = projectScript(new Map([["resource.json", resource]]));
  const server = await startModelServer({ answers: script });
  const out = mkdtempSync(join(tmpdir(), "tour-transcript-"));
  try {
    const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
    const run = { prompt, model: "scripted" };
    await writeFiles(recording(provider, file, { source: "scripted", run }), out);
  } finally {
    await server.close();
    rmSync(out, { recursive: true, force: true });
  }
}

// `node --conditions=@fetchwork/source examples/tour/test/write-transcript.ts` after a change of
// the prompts.
if (import.meta.main) {
  rmSync(notesTranscript, { force: true });
  await writeTranscript(notesTranscript, notes);
}
