import { createAgent } from "../src/run/create-agent.ts";
import { openAICompatible } from "../src/models/http-providers.ts";

// Works until it is done or ended: `agent-process.ts <base URL> <folder> <run> <run|edit|resume>`.
const [, , baseUrl = "", out = "", runId = "", what = ""] = process.argv;
const agent = createAgent({
  provider: openAICompatible({ baseUrl, model: "scripted" }),
  concurrency: 3,
  retry: { delay: 1 },
});
const handle =
  what === "run"
    ? agent.run({ prompt: "a game", out, runId })
    : what === "edit"
      ? agent.edit({ request: "double it", out, runId })
      : agent.resume(runId, { out });
const { ok } = await handle.result;
process.stdout.write(ok ? "done\n" : "faults\n");
