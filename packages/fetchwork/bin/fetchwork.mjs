#!/usr/bin/env node
// Parsed by whatever Node there is, so it says what is missing before anything newer is loaded.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (!(major >= 24 || (major === 22 && minor >= 19))) {
  console.error(`fetchwork: needs Node 22.19, 24 or later, and this is ${process.versions.node}`);
  process.exit(1);
}

const built = new URL("../dist/main.js", import.meta.url);
if (existsSync(built)) {
  await import(built.href);
} else {
  // In the repository there is no build; its packages name their sources under this condition.
  const source = new URL("../src/main.ts", import.meta.url);
  const condition = "--conditions=@fetchwork/source";
  const child = spawn(
    process.execPath,
    [condition, fileURLToPath(source), ...process.argv.slice(2)],
    { stdio: "inherit" },
  );
  // Ctrl-C reaches the child by itself, and only the child decides what it means. What is sent to
  // this process alone is handed on, so that `kill` leaves no server behind.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.once("error", (error) => {
    console.error(`fetchwork: ${error.message}`);
    process.exitCode = 1;
  });
  child.once("exit", (code, signal) => {
    // As a shell counts it, when the child ended before it could decide.
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : signal === "SIGTERM" ? 143 : 1);
  });
}
