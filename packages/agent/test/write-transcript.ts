import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAICompatible } from "../src/models/http-providers.ts";
import { recording } from "../src/models/transcript.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { startModelServer } from "./model-server.ts";
import { projectScript } from "./project-script.ts";
import { readSample } from "./sample-projects.ts";

/** The file that the package is published with. */
export const pongTranscript: string = join(import.meta.dirname, "../transcripts/pong.ndjson");

/** The game that a person wrote for it. */
export const pong: ReadonlyMap<string, string> = readSample(
  join(import.meta.dirname, "transcripts/pong.txt"),
);

const prompt = "A Pong game in the browser, against the computer, on a canvas";

const sharedDeps = `# Shared dependencies

\`\`\`yaml
- index.html
- style.css
- src/paddle.js
- src/ball.js
- src/input.js
- src/draw.js
- src/main.js
\`\`\`

Classic scripts in this order, so that the page opens from the disk. The field is 640 by 400 pixels.

- \`index.html\`: elements \`#field\` (canvas), \`#left\` and \`#right\` (scores).
- \`src/paddle.js\`: class \`Paddle\` with \`move(distance)\` and \`touches(ball)\`.
- \`src/ball.js\`: class \`Ball\` with \`rest\`, \`serve(direction)\`, \`isResting\`, \`move\` and \`bounce(paddle)\`.
- \`src/input.js\`: \`watchKeys(onServe)\` and \`heldDirection()\`.
- \`src/draw.js\`: \`drawField(context, left, right, ball)\`.
- \`src/main.js\`: the loop, and the scores.
`;

/** Writes the transcript. Its answers are scripted by a person, and it says so. */
export async function writePongTranscript(file: string): Promise<void> {
  const server = await startModelServer({ answers: projectScript(pong, { sharedDeps }) });
  const out = mkdtempSync(join(tmpdir(), "agent-transcript-"));
  try {
    const provider = openAICompatible({ baseUrl: server.baseUrl, model: "scripted" });
    const run = { prompt, model: "scripted" };
    // One after another, so that the file is the same each time.
    await createAgent({
      provider: recording(provider, file, { source: "scripted", run }),
      concurrency: 1,
    }).run({ prompt, out, dryRun: true }).result;
  } finally {
    await server.close();
    rmSync(out, { recursive: true, force: true });
  }
}

// `node --conditions=@fetchwork/source packages/agent/test/write-transcript.ts` after a change of
// the prompts.
if (import.meta.main) {
  rmSync(pongTranscript, { force: true });
  await writePongTranscript(pongTranscript);
}
