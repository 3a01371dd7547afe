import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

const script = path.join(import.meta.dirname, "../../src/project/main.ts");
const flags = ["--conditions=@fetchwork/source"];

/** A server that says which it is, and stops when it is told to. */
const entry = `
import { name } from "./api/name.ts";
const timer = setInterval(() => undefined, 1000);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => (console.log("down " + signal), clearInterval(timer)));
}
console.log("up " + name + " " + process.pid);
`;

describe("fetchwork-service dev", () => {
  let root: string;
  let project: string;

  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), "service dev "));
    onTestFinished(() => rm(root, { recursive: true }));
    project = path.join(root, "examples/blog");
    await mkdir(path.join(root, "packages/one/src"), { recursive: true });
    await mkdir(path.join(root, "packages/two/src"), { recursive: true });
    await mkdir(path.join(project, "src/api"), { recursive: true });
    await save("src/index.ts", entry);
    await save("src/api/name.ts", 'export const name = "first";');
  });

  /** Saves as vim, `sed -i` and git do: another file takes the name. */
  async function save(file: string, text: string): Promise<void> {
    const target = path.join(project, file);
    await writeFile(`${target}~`, text);
    await rename(`${target}~`, target);
  }

  function dev(...args: readonly string[]) {
    const child = spawn(process.execPath, [...flags, script, "dev", ...args], {
      cwd: project,
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => void (output += chunk));
    }
    const end = new Promise<number | null>((resolve) => child.once("exit", resolve));
    onTestFinished(async () => {
      child.kill("SIGTERM");
      await end;
    });
    const shows = (text: string | RegExp): Promise<void> =>
      expect.poll(() => output, { timeout: 15_000, interval: 10 }).toMatch(text);
    return { child, end, shows, output: () => output };
  }

  it("starts again at each save by renaming", async () => {
    const { shows, output } = dev();
    await shows(/^up first/m);
    for (let round = 0; round < 4; round += 1) {
      await save("src/api/name.ts", `export const name = "name-${round}";`);
      await shows(new RegExp(`^up name-${round} `, "m"));
      await save("src/index.ts", `${entry}console.log("entry-${round}");`);
      await shows(`entry-${round}`);
    }
    expect(output().match(/^dev: starts again after a change$/gm)).toHaveLength(8);
  });

  it("starts again with what .env has after each change of it, and not for one that the service made", async () => {
    const made = `import { existsSync, writeFileSync } from "node:fs";
      if (!existsSync(".env")) writeFileSync(".env", "COLOR=made");
      process.loadEnvFile(".env");
      console.log("color " + process.env.COLOR);`;
    await save("src/index.ts", `${made}${entry}`);
    const { shows, output } = dev();
    await shows("color made");
    await shows(/^up first/m);
    await save(".env", "COLOR=renamed");
    await shows("color renamed");
    await writeFile(path.join(project, ".env"), "COLOR=in-place");
    await shows("color in-place");
    await save("README.md", "not watched");
    await save(".env", "COLOR=in-place");
    await save("src/api/name.ts", 'export const name = "second";');
    await shows(/^up second/m);
    expect(output().match(/^dev: starts again after a change$/gm)).toHaveLength(3);
  });

  it("sees a save in place, a new folder, and folders that --watch names", async () => {
    const watch = ["one", "two"].flatMap((name) => ["--watch", `../../packages/${name}/src`]);
    const { shows, output } = dev(...watch);
    await shows(/^up first/m);
    const starts = (count: number): Promise<void> =>
      shows(new RegExp(`(?:^up [^]*){${count}}`, "m"));
    await writeFile(path.join(project, "src/api/name.ts"), 'export const name = "in-place";');
    await shows("up in-place");
    await mkdir(path.join(project, "src/new"));
    await starts(3);
    await save("src/new/file.ts", "");
    await starts(4);
    await save("../../packages/one/src/index.ts", "");
    await starts(5);
    await save("../../packages/two/src/index.ts", "");
    await starts(6);
    await save("src/api/name.test.ts", "");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(output().match(/^up /gm)).toHaveLength(6);
  });

  it("keeps running when the service fails, and starts it again when it is mended", async () => {
    const { shows } = dev();
    await shows(/^up first/m);
    await save("src/api/name.ts", "export const name = ;");
    await shows("dev: ended with 1, waits for a change");
    await save("src/api/name.ts", 'export const name = "mended";');
    await shows("up mended");
  });

  it("waits while src is away, and starts the service when it is back", async () => {
    const { shows } = dev();
    await shows(/^up first/m);
    const [source, away] = ["src", "away"].map((name) => path.join(project, name));
    await rename(source ?? "", away ?? "");
    await shows("dev: ended with 1, waits for a change");
    await save("away/api/name.ts", 'export const name = "second";');
    await rename(away ?? "", source ?? "");
    await shows("up second");
    await save("src/api/name.ts", 'export const name = "third";');
    await shows("up third");
  });

  it("kills a service that does not stop", async () => {
    const refusal =
      'if (name === "first") process.on("SIGTERM", () => setInterval(() => {}, 1000));';
    await save("src/index.ts", refusal + entry);
    const { shows } = dev();
    await shows(/^up first/m);
    await save("src/api/name.ts", 'export const name = "second";');
    await shows("up second");
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "forwards %s and ends with the service",
    async (signal) => {
      const { child, end, shows, output } = dev();
      await shows(/^up first/m);
      const server = Number(/^up first (\d+)/m.exec(output())?.[1]);
      child.kill(signal);
      expect(await end).toBe(0);
      await shows(`down ${signal}`);
      expect(() => process.kill(server, 0)).toThrow("ESRCH");
    },
  );

  it("leaves Ctrl-C to the console on Windows, where the service gets it once", async () => {
    const windows = 'Object.defineProperty(process, "platform", { value: "win32" })';
    const child = spawn(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(windows)}`, ...flags, script, "dev"],
      { cwd: project, stdio: ["ignore", "pipe", "inherit"], detached: true },
    );
    const { pid = expect.fail("not started") } = child;
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
    const closed = once(child, "close");
    let isClosed = false;
    onTestFinished(() => void (isClosed || process.kill(-pid, "SIGKILL")));
    await expect.poll(() => output, { timeout: 15_000 }).toContain("up first");
    // As a console does, to all processes of it.
    process.kill(-pid, "SIGINT");
    await expect(closed).resolves.toEqual([0, null]);
    isClosed = true;
    expect(output.match(/down SIGINT/g)).toHaveLength(1);
  });
});
