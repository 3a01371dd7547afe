import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { Sandbox } from "../verify/sandbox.ts";
import { withCopy } from "../verify/program-copy.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { askServer } from "./ask-server.ts";
import { ToolRefusal, type ChangedFiles } from "./changed-files.ts";
import { outputOf } from "./cut-output.ts";
import { defineTool, type LoopTools } from "./loop-tool.ts";

/** Programs, not scripts that start them: those read settings that a sandbox hides. */
const browsers = [
  "/usr/lib/chromium/chromium",
  "/usr/lib/chromium-browser/chromium-browser",
  "/usr/lib64/chromium-browser/chromium-browser",
  "/opt/google/chrome/chrome",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
];

/** Bytes of a picture. */
const maxFileBytes = 4 * 1024 * 1024;

const picture = "fetchwork-screenshot.png";

/** Processes and threads of a browser. */
const processes = 512;

const flags = [
  // Chromium's sandbox needs name spaces that ours forbids; ours holds it.
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--hide-scrollbars",
  "--enable-logging=stderr",
  "--window-size=1024,768",
  "--virtual-time-budget=3000",
  "--timeout=10000",
];

/** The browser that takes pictures; undefined where there is none. */
export function findBrowser(): string | undefined {
  return browsers.find((path) => existsSync(path));
}

/** The first bytes of a PNG (RFC 2083, section 3.1): model servers refuse anything else. */
const startOfPng = Buffer.from("89504e470d0a1a0a", "hex");

const seconds = z.int().min(1).max(600).optional();
const port = z.int().min(1).max(65_535);
const command = z.string().min(1).max(10_000);

/**
 * Tools that run a copy of the program as it is at the time, in a sandbox: one runs a command; of a
 * server that they start, one sends it a request, and one opens a page in Chromium, where that is
 * installed.
 *
 * @param from folder of the program: its installed packages can be read there
 */
export function sandboxTools(files: ChangedFiles, sandbox: Sandbox, from: string): LoopTools {
  const copied = <T>(
    signal: AbortSignal,
    use: (folder: string, inside: Sandbox) => Promise<T>,
  ): Promise<T> => withCopy(files.files, { sandbox, from, changed: files.changed, signal }, use);
  const run = defineTool({
    mayDiffer: true,
    description:
      "Runs a command of the shell in a sandbox without network, on a copy of the program as it is now: tests, a build. What it changes in files is not kept.",
    input: z.object({ command, seconds }),
    about: ({ command: line }) => line,
    execute: ({ command: line, seconds: time = 60 }, signal) => {
      const options = { signal, timeout: time * 1_000 };
      return copied(signal, async (cwd, inside) =>
        outputOf(await inside.exec(["sh", "-c", line], { ...options, cwd }), cwd),
      );
    },
  });
  const request = defineTool({
    mayDiffer: true,
    description:
      "Starts a server with a command of the shell, in a sandbox without other network, on a copy of the program as it is now; waits until it listens on `port` of localhost, sends it one HTTP request, and ends it.",
    input: z.object({
      command,
      port,
      method: z
        .string()
        .regex(/^[A-Z]+$/)
        .optional(),
      path: z.string().startsWith("/"),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional(),
      seconds,
    }),
    about: ({ method = "GET", path }) => `${method} ${path}`,
    execute: (input, signal) => {
      const { method = "GET", path, headers = {}, body, seconds: time = 60, ...server } = input;
      const asked = { ...server, seconds: time, request: { method, path, headers, body } };
      const options = { signal, timeout: (time + 5) * 1_000 };
      return copied(signal, async (cwd, inside) =>
        outputOf(await inside.exec(askServer(asked), { ...options, cwd }), cwd),
      );
    },
  });
  const browser = findBrowser();
  if (browser === undefined) return { run, request };
  const screenshot = defineTool({
    mayDiffer: true,
    description:
      "Opens a page of a copy of the program as it is now in Chromium, in a sandbox, and shows a picture of it and what its console says. `path` is an HTML file, or with `command` and `port`, which start a server, a path of that.",
    input: z.object({
      path: z.string().min(1),
      command: command.optional(),
      port: port.optional(),
      seconds,
    }),
    about: ({ path }) => path,
    execute: ({ path, seconds: time = 60, command: start, port: at }, signal) =>
      copied(signal, async (cwd, inside) => {
        const [file = "", rest = ""] = /^([^?#]*)(.*)$/s.exec(path)?.slice(1) ?? [];
        if (start !== undefined && (at === undefined || !path.startsWith("/"))) {
          throw new ToolRefusal("A server needs a port, and a path that begins with /.");
        }
        if (start === undefined && !files.files.has(file)) {
          throw new ToolRefusal(`There is no file ${file}.`);
        }
        const url =
          start === undefined
            ? `${pathToFileURL(join(cwd, file)).href}${rest}`
            : `http://localhost:${at}${path}`;
        const line = [browser, ...flags, `--screenshot=${join(cwd, picture)}`, url];
        const asked = { command: start, port: at, seconds: time, browser: line };
        const readOnly = browser.startsWith("/usr/") ? [] : [dirname(browser)];
        const timeout = (time + 5) * 1_000;
        const options = { cwd, readOnly, timeout, signal, processes };
        const result = await inside.exec(askServer(asked), options);
        const text = outputOf(result, cwd);
        if (result.code !== 0) return text;
        try {
          // Programs that run there may have put a link in place of the picture.
          const copy = await ConfinedFolder.open(cwd, { maxFileBytes });
          const bytes = Buffer.from((await copy.readBytes(picture)) ?? []);
          if (bytes.subarray(0, 8).equals(startOfPng)) {
            return { text, picture: bytes.toString("base64") };
          }
          return `${text}\n\nThe picture is missing, or not a PNG.`;
        } catch (error) {
          return `${text}\n\nThe picture cannot be read: ${String(error)}`;
        }
      }),
  });
  return { run, request, screenshot };
}
