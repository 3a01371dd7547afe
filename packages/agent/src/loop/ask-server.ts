/** Work to do in the sandbox. */
export interface ServerQuestion {
  /** Starts the server; undefined: there is none. */
  readonly command?: string | undefined;
  readonly port?: number | undefined;
  /** Until the end of all. */
  readonly seconds: number;
  readonly request?: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
  };
  /** A command line that opens a page, but for the folder of the browser's profile. */
  readonly browser?: readonly string[];
}

/** A command that starts a server, waits until it listens, asks it or opens a page, and ends. */
export function askServer(question: ServerQuestion): readonly string[] {
  return [process.execPath, "-e", script, "--", JSON.stringify(question)];
}

/** Runs in the sandbox with its separate network. The server's output comes first. */
const script = `
const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");
const { request: ask } = require("node:http");
const { connect } = require("node:net");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { command, port, seconds, request, browser } = JSON.parse(process.argv[1]);
const until = Date.now() + seconds * 1000;
let profile;
function end(code, text) {
  if (profile !== undefined) rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  process.stdout.write("\\n" + text + "\\n", () => process.exit(code));
}
function listens() {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost" });
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
async function start() {
  if (await listens()) return end(1, "Something else listens on port " + port + ".");
  let ended;
  const server = spawn("sh", ["-c", command], { stdio: ["ignore", "inherit", "inherit"] });
  server.once("exit", (code, signal) => (ended = code ?? signal));
  while (!(await listens())) {
    // A command that ends well may have left its server running.
    if (ended !== undefined && ended !== 0) {
      return end(1, "The server ended with " + ended + " before it listened on port " + port + ".");
    }
    if (Date.now() > until) return end(1, "Nothing listens on port " + port + ".");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
function headOf({ statusCode, statusMessage, rawHeaders }) {
  const head = ["HTTP " + statusCode + " " + statusMessage];
  for (let at = 0; at < rawHeaders.length; at += 2) head.push(rawHeaders[at] + ": " + rawHeaders[at + 1]);
  return head.join("\\n").slice(0, 3000);
}
function send({ method, path, headers, body }) {
  const sent = ask({ host: "localhost", port, method, path, headers }, (response) => {
    const head = headOf(response);
    let bytes = Buffer.alloc(0);
    const tell = (how) => {
      const text = bytes.includes(0) ? "(" + bytes.length + " bytes that are no text)" : bytes.toString().slice(0, 6000);
      end(0, head + "\\n\\n" + text + how);
    };
    const timer = setTimeout(() => tell("\\n(The response has no end.)"), Math.max(until - Date.now(), 1));
    response.on("data", (data) => {
      bytes = Buffer.concat([bytes, data]);
      if (bytes.length > 1000000) tell("\\n(The rest is left out.)");
    });
    response.once("error", () => tell("\\n(The response broke off.)"));
    response.once("end", () => {
      clearTimeout(timer);
      tell(bytes.length > 6000 ? "\\n(" + bytes.length + " bytes in all.)" : "");
    });
  });
  // Of another protocol there is nothing to wait for.
  for (const event of ["upgrade", "connect"]) sent.once(event, (response) => end(0, headOf(response)));
  sent.once("error", (error) => end(1, "The request failed: " + error.message));
  sent.setTimeout(Math.max(until - Date.now(), 1), () => end(1, "There was no response in time."));
  sent.end(body);
}
function open([file, ...args]) {
  profile = mkdtempSync(join(tmpdir(), "browser-"));
  const page = spawn(file, ["--user-data-dir=" + profile, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  page.stderr.setEncoding("utf8").on("data", (text) => (output = (output + text).slice(-100000)));
  setTimeout(() => page.kill("SIGKILL"), Math.max(until - Date.now(), 1));
  page.once("error", (error) => end(1, error.message));
  page.once("close", (code) => {
    const said = [...output.matchAll(/:CONSOLE:\\d+\\] (.*)/g)].map(([, text]) => text);
    const own = said.filter((text) => !text.includes("source: chrome:"));
    if (code === 0) return end(0, own.length === 0 ? "The console is empty." : "Console:\\n" + own.join("\\n"));
    end(1, (code === null ? "The page took too long." : "The browser failed.") + "\\n" + output.slice(-2000));
  });
}
(async () => {
  if (command !== undefined && (await start()) !== true) return;
  if (browser !== undefined) open(browser);
  else send(request);
})();
`;
