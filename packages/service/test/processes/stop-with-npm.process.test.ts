import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { secrets } from "../notes-service.ts";
import { makeProject, notesProject } from "../service-process.ts";

const source = path.join(import.meta.dirname, "../../src/processes/stop-with-npm.ts");
const bin = path.join(import.meta.dirname, "../../bin/fetchwork-service.mjs");
const node = "node --conditions=@fetchwork/source";

const watching = `import { stopWithNpm } from ${JSON.stringify(source)};
stopWithNpm();
process.once("exit", (code) => console.log("ended with", code));
setInterval(() => {}, 1000);
console.log("up");
`;
const listening = `process.once("SIGTERM", () => setTimeout(() => process.exit(0), 50));\n${watching}`;
const service = `process.once("exit", (code) => console.log("ended with", code));\n${notesProject}`;

const programs = [
  { title: "a program that listens", main: listening, end: "ended with 0" },
  { title: "a program that does not listen", main: watching, end: "ended with 143" },
  {
    title: "the last of two commands",
    main: listening,
    end: "ended with 0",
    before: "node -v && ",
  },
  { title: "a service", main: service, up: "Ctrl-C stops it.", end: "ended with 0" },
];

/** Starts a script of a project by npm; nothing else of its group gets a signal. */
function npmRun(folder: string, script: string) {
  const manifest = { type: "module", scripts: { serve: script } };
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  const child = spawn("npm", ["run", "--silent", "serve"], {
    cwd: folder,
    env: {
      ...secrets,
      PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"]}`,
      HOME: folder,
      DATABASE_URL: "sqlite::memory:",
      IP: "127.0.0.1",
      PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  // Where a test fails, something of the group is left.
  let isClosed = false;
  onTestFinished(() => void (isClosed || (child.pid && process.kill(-child.pid, "SIGKILL"))));
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
  // The pipe closes when the last process that has it ends.
  const closed = once(child, "close").then(() => (isClosed = true));
  return { child, closed, output: () => output };
}

// Elsewhere than on Linux a shell that outlives npm is not seen.
const signals = process.platform === "linux" ? (["SIGTERM", "SIGKILL"] as const) : ["SIGTERM"];

describe.skipIf(process.platform === "win32")("npm that gets a signal alone", () => {
  for (const signal of signals) {
    it.each(programs)(`stops $title in order after ${signal}`, async (program) => {
      const folder = makeProject(program.main);
      const { child, closed, output } = npmRun(folder, `${program.before ?? ""}${node} index.ts`);
      await expect.poll(output, { timeout: 30_000 }).toContain(program.up ?? "up\n");
      child.kill(signal as NodeJS.Signals);
      await closed;
      expect(output().trim().split("\n").at(-1)).toBe(program.end);
    });

    it(`stops \`fetchwork-service dev\` and its service after ${signal}`, async () => {
      const folder = makeProject("");
      mkdirSync(path.join(folder, "src"));
      const main = service.replace("../notes-service.ts", "../../notes-service.ts");
      writeFileSync(path.join(folder, "src/index.ts"), main);
      const { child, closed, output } = npmRun(folder, `${node} ${bin} dev`);
      await expect.poll(output, { timeout: 30_000 }).toContain("Ctrl-C stops it.");
      child.kill(signal as NodeJS.Signals);
      await closed;
      expect(output().trim().split("\n").at(-1)).toBe("ended with 0");
    });
  }
});
