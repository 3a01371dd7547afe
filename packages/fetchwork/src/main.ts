import { commands } from "./commands.ts";
import { processIo } from "./command/process-io.ts";
import { runCommand } from "./command/run-command.ts";

process.exitCode = await runCommand(commands, { args: process.argv.slice(2), io: processIo() });
