// Runs the server, and runs it again after each change of the sources.
//
// `node --watch` loses sight of a file that is replaced by another of its name, as vim, `sed -i` and `git checkout`
// save it, and so does a recursive `fs.watch`. Folders are rarely replaced, so each one is watched by itself.
import { spawn, type ChildProcess } from "node:child_process";
// #if !workspace
//+ import { readdirSync, watch, type FSWatcher } from "node:fs";
// #endif
// #if workspace
import { globSync, readdirSync, watch, type FSWatcher } from "node:fs";
// #endif
import path from "node:path";

const project = path.join(import.meta.dirname, "..");
// #if !workspace
//+ const roots = [path.join(project, "src")];
// #endif
// #if workspace
const workspace = path.join(project, "../..");
const roots = [
  path.join(project, "src"),
  ...globSync("packages/*/src", { cwd: workspace }).map((folder) => path.join(workspace, folder)),
];
// #endif
/** One save is many events. In milliseconds. */
const debounce = 50;
/** How long a server may take to stop before it is killed. In milliseconds. */
const patience = 1000;

let watchers: readonly FSWatcher[] = [];
let child: ChildProcess | undefined;
let timer: NodeJS.Timeout | undefined;
let state: "running" | "restarting" | "stopping" = "running";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => stop(signal));
}
watchFolders();
run();

function run(): void {
  state = "running";
  // In a group of its own: Ctrl-C reaches it once, forwarded, for a second signal ends it at once.
  const started = spawn(
    process.execPath,
    [...process.execArgv, path.join(project, "src/index.ts")],
    { stdio: ["ignore", "inherit", "inherit"], detached: true },
  );
  child = started;
  started.once("exit", (code, signal) => {
    child = undefined;
    if (state === "restarting") run();
    else if (state === "stopping") process.exitCode = code ?? 1;
    else console.log(`dev: ended with ${signal ?? code}, waits for a change`);
  });
}

function restart(): void {
  console.log("dev: starts again after a change");
  watchFolders();
  if (child === undefined) return run();
  state = "restarting";
  const ending = child;
  ending.kill("SIGTERM");
  setTimeout(() => ending.kill("SIGKILL"), patience).unref();
}

function stop(signal: NodeJS.Signals): void {
  state = "stopping";
  clearTimeout(timer);
  for (const watcher of watchers) watcher.close();
  child?.kill(signal);
}

function watchFolders(): void {
  for (const watcher of watchers) watcher.close();
  watchers = roots.flatMap(foldersIn).flatMap((folder) => {
    try {
      return [watch(folder, onChange).on("error", () => onChange())];
    } catch {
      return []; // Gone since it was listed, which the folder around it reports.
    }
  });
}

function foldersIn(root: string): readonly string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return [root, ...folders.map(({ parentPath, name }) => path.join(parentPath, name))];
}

function onChange(_event?: string, name?: string | null): void {
  // Tests are not run here; the others are what editors keep beside a file.
  if (state === "stopping" || /\.test\.ts$|^\.|~$/.test(name ?? "")) return;
  clearTimeout(timer);
  timer = setTimeout(restart, debounce);
}
