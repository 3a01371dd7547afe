import { serveAcp } from "@fetchwork/agent/acp";
import { defineCommand, type Command } from "../command/command.ts";
import { mcpOption, mcpServers } from "./mcp-option.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { agentOptions, checkWork, editWorkOptions, limitOptions } from "./work-options.ts";

/** `fetchwork agent acp`. */
export const acp: Command = defineCommand({
  summary: "Work for an editor that speaks the Agent Client Protocol, by standard input and output",
  options: { ...mcpOption, ...modelOptions, ...editWorkOptions, ...limitOptions },
  async run({ values }, io) {
    const work = checkWork(values);
    const mcp = mcpServers(values.mcp);
    const chosen = await chooseModel(values, io);
    // An edit is made for the current files, so there is nothing to merge.
    const { onConflict: _onConflict, ...options } = agentOptions(work, chosen);
    await serveAcp({
      ...options,
      mcp,
      input: io.stdin,
      output: (bytes) => io.stdout.write(bytes),
      signal: io.signal,
    });
    return 0;
  },
});
