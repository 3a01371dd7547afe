#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/project/main.js", import.meta.url);
if (existsSync(built)) {
  await import(built.href);
} else {
  // In the repository there is no build; its packages name their sources under this condition.
  const source = fileURLToPath(new URL("../src/project/main.ts", import.meta.url));
  const flags = [...process.execArgv, "--conditions=@fetchwork/source"];
  const child = spawn(process.execPath, [...flags, source, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  // Ctrl-C reaches the child by itself; what is sent to this process alone is handed on.
  process.on("SIGINT", () => {});
  (await import("../src/processes/stop-with-npm.ts")).stopWithNpm();
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code) => (process.exitCode = code ?? 1));
}
