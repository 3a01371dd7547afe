// Runs Node with variables of its environment, in place of a shell.
//   node scripts/with-environment.mjs NAME=value... -- <arguments of node>
import { spawn } from "node:child_process";

const words = process.argv.slice(2);
const end = words.indexOf("--");
if (end < 0) {
  console.error("usage: with-environment.mjs NAME=value... -- <arguments of node>");
  process.exit(2);
}
const set = words.slice(0, end).map((word) => {
  const [name = "", ...value] = word.split("=");
  return [name, value.join("=")];
});
const env = { ...process.env, ...Object.fromEntries(set) };
const args = words.slice(end + 1);

// This process becomes the program, so that signals reach it and no second one stays in memory.
if (process.execve !== undefined)
  process.execve(process.execPath, [process.execPath, ...args], env);

// Windows has no `execve`. Ctrl-C reaches all processes of a console; the program decides what it
// means.
const child = spawn(process.execPath, args, { env, stdio: "inherit" });
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.once("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
child.once("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : signal === "SIGTERM" ? 143 : 1);
});
