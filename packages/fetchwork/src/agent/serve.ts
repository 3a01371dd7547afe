import { serveTasks, type VerifyLevel } from "@fetchwork/agent/server";
import { isLoopbackHost } from "@fetchwork/kit";
import { defineCommand, type Command } from "../command/command.ts";
import { storeUrl } from "../db/store-url.ts";
import { readSecret } from "../command/read-secret.ts";
import { oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { wholeNumber } from "../command/whole-number.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import {
  agentOptions,
  checkWork,
  limitOptions,
  verifiersFor,
  workOptions,
} from "./work-options.ts";

const { "on-conflict": _conflict, verify: _verify, ...serverWork } = workOptions;

/** `fetchwork agent serve`. */
export const serve: Command = defineCommand({
  summary: "Serve the task API (Agent Protocol) and its web page",
  options: {
    port: {
      type: "string",
      short: "p",
      hint: "number",
      default: "8000",
      description: "Port; 0 picks a free one",
    },
    host: {
      type: "string",
      hint: "address",
      default: "127.0.0.1",
      description: "Address to listen on; any but loopback requires a token",
    },
    "token-file": {
      type: "string",
      hint: "file",
      description:
        "File with the bearer token that clients must send (default: FETCHWORK_AGENT_TOKEN)",
    },
    "allow-host": {
      type: "string",
      hint: "name",
      multiple: true,
      description: "Additional Host header to accept; may be repeated",
    },
    store: {
      type: "string",
      hint: "url",
      description:
        "Store for the tasks: sqlite:<path> or postgres://… (default: sqlite:.fetchwork/tasks.db)",
    },
    ...modelOptions,
    ...serverWork,
    ...limitOptions,
    verify: {
      type: "string",
      hint: "level",
      description:
        "Checks after the last file: none, static or run (default: none); a task may request less",
    },
  },
  async run({ values }, io) {
    const { host: hostname, "allow-host": hosts } = values;
    const port = wholeNumber("port", values.port, 65_535);
    const { verify, ...others } = values;
    const asked = verifyLevel(verify);
    const level = values.check === undefined ? asked : "run";
    const work = checkWork(others);
    const token = await readSecret(values["token-file"], "FETCHWORK_AGENT_TOKEN", io);
    const store = storeUrl(values.store ?? "sqlite:.fetchwork/tasks.db", io);
    if (token === undefined && !isLoopbackHost(hostname)) {
      throw new CommandUsageError(
        `${hostname} can be reached from other machines; set a token with FETCHWORK_AGENT_TOKEN or --token-file`,
      );
    }
    const chosen = await chooseModel(values, io);
    // Each task has a separate folder, so no file conflicts with those that it writes.
    const { onConflict: _onConflict, ...options } = agentOptions(work, chosen);
    const server = await serveTasks({
      ...options,
      verify: level,
      verifiers: verifiersFor(level === "run", values.check),
      port,
      hostname,
      hosts,
      token,
      store,
      signals: false,
      signal: io.signal,
      reportError: (error) => {
        const message = error instanceof Error ? error.message : String(error);
        io.stderr.write(`${oneLine(message, 1000)}\n`);
      },
    });
    io.stderr.write(`Listening on ${server.url}${token === undefined ? "" : ", with a token"}\n`);
    await server.finished;
    return 0;
  },
});

function verifyLevel(value: string | undefined): VerifyLevel | undefined {
  if (value === undefined || value === "none" || value === "static" || value === "run") {
    return value;
  }
  throw new CommandUsageError("--verify must be one of none, static, run");
}
