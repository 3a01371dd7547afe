import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";
import { stopWithNpm } from "../processes/stop-with-npm.ts";

/** One save is many events. In milliseconds. */
const debounce = 50;
const isWindows = process.platform === "win32";
/** How long a service may take to stop before it is killed. In milliseconds. */
const maxWait = 1000;

/**
 * Runs `src/index.ts` of a project, and runs it again after each change of `.env`, or of a file in
 * `src` or in `folders`, but for tests. A service that does not stop within a second is killed.
 * SIGINT, SIGTERM and SIGHUP end both; the exit code is that of the service.
 *
 * `node --watch` loses sight of a file that is replaced by another of its name, as vim, `sed -i`
 * and `git checkout` do. So does a recursive `fs.watch`. Folders are rarely replaced, so each one
 * is watched by itself.
 */
export function dev(project: string, folders: readonly string[]): void {
  const environmentFile = path.join(project, ".env");
  const roots = [path.join(project, "src"), ...folders];
  let environment = readText(environmentFile);
  let watchers: readonly FSWatcher[] = [];
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let state: "running" | "restarting" | "stopping" = "running";

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stop(signal));
  }
  stopWithNpm();
  watchFolders();
  run();

  function run(): void {
    state = "running";
    // Ctrl-C reaches a separate group once, forwarded; a second signal would end the service at
    // once. On Windows a signal ends a process without its listeners, but Ctrl-C reaches all of a
    // console by itself.
    child = spawn(process.execPath, [...process.execArgv, path.join(project, "src/index.ts")], {
      cwd: project,
      stdio: ["ignore", "inherit", "inherit"],
      detached: !isWindows,
    });
    child.once("exit", (code, signal) => {
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
    setTimeout(() => ending.kill("SIGKILL"), maxWait).unref();
  }

  function stop(signal: NodeJS.Signals): void {
    state = "stopping";
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    if (!isWindows || signal !== "SIGINT") child?.kill(signal);
  }

  function watchFolders(): void {
    for (const watcher of watchers) watcher.close();
    watchers = [
      watch(project, onProject).on("error", () => undefined),
      ...roots.flatMap(foldersIn).flatMap((folder) => {
        try {
          return [watch(folder, onChange).on("error", () => onChange())];
        } catch {
          return []; // Gone since it was listed, which the folder around it reports.
        }
      }),
    ];
  }

  function onProject(event: string, name: string | null): void {
    if (name === "src" && event === "rename") onChange(); // It went, or came back.
    if (name !== ".env") return;
    const before = environment;
    environment = readText(environmentFile) || before;
    // A service that finds no file makes one, perhaps empty at first, and has read it then.
    if (before !== undefined && environment !== before) onChange();
  }

  function onChange(_event?: string, name?: string | null): void {
    // Tests are not run here; the others are what editors keep next to a file.
    if (state === "stopping" || /\.test\.ts$|^\.|~$/.test(name ?? "")) return;
    clearTimeout(timer);
    timer = setTimeout(restart, debounce);
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // Not there, or about to be replaced.
  }
}

function foldersIn(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return [root, ...folders.map(({ parentPath, name }) => path.join(parentPath, name))];
}
