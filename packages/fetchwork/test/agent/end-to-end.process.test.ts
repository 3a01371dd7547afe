import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listRuns } from "@fetchwork/agent";
import { chromium } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ScriptedAnswer } from "../../../agent/test/model-server.ts";
import { projectScript } from "../../../agent/test/project-script.ts";
import { readSample } from "../../../agent/test/sample-projects.ts";
import { pong, pongTranscript } from "../../../agent/test/write-transcript.ts";
import { readJournal } from "../../../agent/src/workspace/journal.ts";
import {
  programOf,
  startCommand,
  startServer,
  temporaryFolder,
  treeOf,
  type EndedCommand,
  type ServerProcess,
} from "./command-process.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const notes = readSample(join(import.meta.dirname, "notes-service.txt"));

const environment = ({ baseUrl }: ServerProcess): Readonly<Record<string, string>> => ({
  FETCHWORK_BASE_URL: baseUrl,
  FETCHWORK_MODEL: "scripted",
});

/** A first answer that does not fit: it imports a class by another name than it has. */
const misfit: readonly ScriptedAnswer[] = [
  {
    match: ["# Write src/app.js"],
    text: (notes.get("src/app.js") ?? "").replaceAll("Notes", "NoteList"),
  },
];

/** Tests of the module alone. */
const twoNotes = `import assert from "node:assert/strict";
import { it } from "node:test";
import { Notes } from "../src/notes.js";

it("stores two notes", () => {
  const notes = new Notes();
  notes.add("milk");
  notes.add("bread");
  assert.equal(notes.list().length, 2);
});
`;

/** Runs `fetchwork agent` to its end. */
function agent(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<EndedCommand> {
  return startCommand(["agent", ...args], { cwd, env }).ended;
}

describe("a canvas game", () => {
  it.skipIf(!existsSync(executablePath) && process.env["CI"] !== "true")(
    "is written by the command, and a browser plays it",
    async () => {
      const cwd = temporaryFolder();
      const server = await startServer({ answers: projectScript(pong) });
      const { code, stdout } = await agent(["Pong", "--out", "pong"], cwd, environment(server));
      expect(stdout).toContain("8 files, no errors");
      expect(code).toBe(0);
      expect(programOf(join(cwd, "pong"))).toEqual(Object.fromEntries(pong));

      const browser = await chromium.launch({
        executablePath,
        args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
      });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      const errors: Error[] = [];
      page.on("pageerror", (error) => errors.push(error));
      await page.goto(pathToFileURL(join(cwd, "pong/index.html")).href);
      /**
       * Looks at each frame until the own paddle's height, or the ball across, has gone so far from
       * where it is now; to be called before what moves it. Resolves to whether it did within ten
       * seconds of frames.
       */
      const moves = (what: "paddle" | "ball", distance: number): Promise<boolean> =>
        page.evaluate(
          async ([which, far]) => {
            const canvas = document.querySelector("canvas");
            const context = canvas?.getContext("2d");
            if (!canvas || !context) throw new Error("there is no canvas");
            const [left, width, red] = which === "paddle" ? [24, 1, 0x7e] : [40, 560, 0xe8];
            const place = (): number => {
              const { data } = context.getImageData(left, 0, width, canvas.height);
              const found: number[] = [];
              for (let at = 0; at < data.length; at += 4) {
                const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
                if (data[at] === red) found.push(which === "paddle" ? y : x);
              }
              return found.reduce((sum, one) => sum + one, 0) / found.length;
            };
            const frame = (): Promise<number> =>
              new Promise((resolve) => requestAnimationFrame(resolve));
            await frame();
            await frame();
            const begin = place();
            for (let at = 0; at < 600; at += 1) {
              document.title = `watched ${at}`;
              await frame();
              const moved = place() - begin;
              if (far < 0 ? moved < far : moved > far) return true;
            }
            return false;
          },
          [what, distance] as const,
        );
      const does = async (
        what: "paddle" | "ball",
        distance: number,
        act: () => Promise<void>,
      ): Promise<boolean> => {
        await page.evaluate(() => (document.title = ""));
        const moved = moves(what, distance);
        await page.waitForFunction(() => document.title.startsWith("watched"));
        await act();
        return moved;
      };

      expect(await does("paddle", 30, () => page.keyboard.down("s"))).toBe(true);
      await page.keyboard.up("s");
      expect(await does("ball", 40, () => page.keyboard.press("Space"))).toBe(true);
      expect(await does("paddle", -30, () => page.keyboard.down("ArrowUp"))).toBe(true);
      const picture = process.env["FETCHWORK_SCREENSHOT"];
      if (picture !== undefined) await page.screenshot({ path: picture });
      expect(errors).toEqual([]);
    },
    60_000,
  );
});

describe("a service with its tests", () => {
  const checked = (stdout: string): readonly unknown[] =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly type: string })
      .filter(({ type }) => type === "checked");

  it("is written, passes its tests in the sandbox, and responds", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes) });
    const args = ["A service for notes", "--verify", "--json"];
    const { code, stdout } = await agent(args, cwd, environment(server));
    expect(checked(stdout)).toEqual([
      {
        type: "checked",
        round: 0,
        diagnostics: [],
        checked: notes.size,
        unchecked: [],
        level: expect.stringMatching(/sealed|process/),
      },
    ]);
    expect(code).toBe(0);
    const folder = join(cwd, "generated");
    expect(programOf(folder)).toEqual(Object.fromEntries(notes));

    const service = spawn(process.execPath, ["src/server.js"], {
      cwd: folder,
      env: { PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void service.kill());
    const url = await new Promise<string>((resolve) => {
      service.stdout.setEncoding("utf8").once("data", (line: string) => resolve(line.trim()));
    });
    const created = await fetch(`${url}/notes`, { method: "POST", body: '{"text":"milk"}' });
    expect([created.status, await created.json()]).toEqual([201, { id: 1, text: "milk" }]);
    expect(await (await fetch(`${url}/notes`)).json()).toEqual([{ id: 1, text: "milk" }]);
  }, 60_000);

  it("repairs a first response that does not fit", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes, { first: misfit }) });
    const { code, stdout, stderr } = await agent(["notes", "--verify"], cwd, environment(server));
    expect(stderr).toContain("checked  1 error\n         src/app.js:2 ");
    expect(stderr).toContain("repair   src/app.js\nchecked  no errors, run in the sandbox");
    expect(stdout).toContain("1 round of repair");
    const asked = (await server.requests()).map(({ task }) => task.split("\n")[0]);
    expect(asked.filter((line) => line?.startsWith("# Repair"))).toEqual(["# Repair src/app.js"]);
    expect(code).toBe(0);
    expect(programOf(join(cwd, "generated"))).toEqual(Object.fromEntries(notes));
  }, 60_000);

  it.each([
    ["throws", "return [...this.#notes.values()]", "return this.#notes.toArray()"],
    ["is wrong", "this.#next += 1", "this.#next += 0"],
  ])(
    "has a fault that %s while its tests run found and repaired",
    async (_, right, fault) => {
      const cwd = temporaryFolder();
      const source = notes.get("src/notes.js") ?? "";
      expect(source).toContain(right);
      const imported = { match: ["# Write test/app.test.js"], text: twoNotes };
      const wrong = { match: ["# Write src/notes.js"], text: source.replace(right, fault) };
      const first = [wrong, imported];
      const server = await startServer({ answers: projectScript(notes, { first }) });
      const { code, stderr } = await agent(["notes", "--verify"], cwd, environment(server));
      expect(stderr).toMatch(/checked {2}1 error, run in the sandbox "\w+"\n +src\/notes\.js/);
      expect(stderr).toContain("repair   src/notes.js\nchecked  no errors");
      expect(code).toBe(0);
      expect(programOf(join(cwd, "generated"))["src/notes.js"]).toBe(source);
    },
    60_000,
  );

  it("exits with 3 and lists the remaining errors", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes, { first: misfit }) });
    const args = ["notes", "--verify", "--repair", "0"];
    const { code, stdout } = await agent(args, cwd, environment(server));
    expect(code).toBe(3);
    expect(stdout).toMatch(/^error {7}src\/app\.js:2 .*Notes/m);
    expect(stdout).toContain("6 files, 1 error, not run, ");
  }, 60_000);
});

describe("an interrupted run", () => {
  /** Names of the runs that have begun: what they are to make is written down. */
  async function begun(folder: string): Promise<readonly string[]> {
    return (await listRuns(folder)).flatMap(({ runId, prompt }) =>
      prompt === undefined ? [] : [runId],
    );
  }

  /** What is finished, as the journal of the run says; undefined: it has not begun. */
  async function finished(folder: string): Promise<readonly string[] | undefined> {
    const [run] = await begun(folder);
    if (run === undefined) return undefined;
    const entries = await readJournal(join(folder, ".fetchwork/runs", run, "journal.ndjson"));
    return entries.flatMap(({ type, data }) => {
      if (type === "plan") return ["# Plan"];
      if (type === "files") return ["# Files"];
      const isFile = type === "file" && typeof data === "object" && data !== null && "path" in data;
      return isFile ? [`# Write ${String(data.path)}`] : [];
    });
  }

  it("killed with -9 at random moments resumes to the same tree and pays for no finished file twice", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes), delay: 60 });
    const env = environment(server);
    const whole = await agent(["notes", "--out", "whole", "-j2"], cwd, env);
    expect(whole.code).toBe(0);
    const perfect = (await server.requests()).length;
    const out = join(cwd, "killed");
    let kills = 0;
    for (let done = false; !done && kills < 40;) {
      const before = await finished(out);
      const first = (await server.requests()).length;
      const args = before === undefined ? ["notes"] : ["resume"];
      const { child, ended } = startCommand(["agent", ...args, "--out", "killed", "-j2"], {
        cwd,
        env,
      });
      // Random moments after a question or two, until there were enough of them.
      const enough = kills >= 8;
      const after = 1 + Math.floor(Math.random() * 2);
      const extra = Math.random() * 70;
      const watch = async (): Promise<void> => {
        while (!enough && child.exitCode === null && child.signalCode === null) {
          if ((await server.requests()).length - first >= after) {
            setTimeout(() => child.kill("SIGKILL"), extra);
            return;
          }
        }
      };
      const [end] = await Promise.all([ended, watch()]);
      if (end.signal === null) expect([end.code, end.stderr]).toEqual([0, expect.anything()]);
      done = end.signal === null;
      if (!done) kills += 1;
      const asked = (await server.requests()).slice(first).map(({ task }) => task.split("\n")[0]);
      for (const step of before ?? []) expect(asked).not.toContain(step);
      // A new run is only begun where the first one has written nothing down.
      expect((await begun(out)).length).toBeLessThanOrEqual(1);
    }
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(treeOf(out)).toEqual(treeOf(join(cwd, "whole")));
    expect(perfect).toBe(notes.size + 2);
  }, 120_000);

  it("stopped by Ctrl-C exits with 130 and prints a resume command that works", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes), delay: 150 });
    const env = environment(server);
    const args = ["notes", "--out", "it's here", "-j", "1", "--verify=no"];
    const { child, ended } = startCommand(["agent", ...args], { cwd, env });
    child.stderr?.on("data", (text: string) => {
      if (text.includes("file     2/")) child.kill("SIGINT");
    });
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toContain("fetchwork agent: interrupted\n");
    const [, line = ""] = /^Resume with: fetchwork (.+)$/m.exec(stderr) ?? [];
    expect(line).toMatch(/^agent resume [\da-f-]{36} --out 'it'\\''s here' .*--verify false/);
    const program = join(import.meta.dirname, "../../src/main.ts");
    const shell = spawn(
      "sh",
      ["-c", `"${process.execPath}" --conditions=@fetchwork/source "${program}" ${line}`],
      { cwd, env: { ...env, PATH: process.env["PATH"] ?? "" }, stdio: "ignore" },
    );
    expect(await new Promise((resolve) => shell.once("close", resolve))).toBe(0);
    expect(programOf(join(cwd, "it's here"))).toEqual(Object.fromEntries(notes));
    expect(await server.requests()).toHaveLength(notes.size + 2 + 1);
  }, 60_000);
});

describe("a transcript", () => {
  it("replays the same tree without a server, a model or a prompt", async () => {
    const cwd = temporaryFolder();
    const server = await startServer({ answers: projectScript(notes, { first: misfit }) });
    const env = { ...environment(server), FETCHWORK_API_KEY: "sk-very-secret" };
    const record = ["notes", "--out", "a", "--record", "notes.ndjson", "--temperature", "0.2"];
    const recorded = await agent(record, cwd, env);
    expect(recorded.code).toBe(0);
    await server.stop();
    const replayed = await agent(["--replay", "notes.ndjson", "--out", "b"], cwd);
    expect(replayed.code).toBe(0);
    expect(treeOf(join(cwd, "b"))).toEqual(treeOf(join(cwd, "a")));
    expect(replayed.stdout).toContain("1 round of repair");
    expect(replayed.stdout).toContain("no model was asked");
    expect(replayed.stdout).not.toMatch(/cost|tokens/);
    const everything = [recorded.stdout, recorded.stderr, ...treeOf(cwd).values()].join("\n");
    expect(everything).not.toContain("sk-very-secret");
  }, 60_000);

  it("of the repository is marked as scripted and replays the game", async () => {
    const cwd = temporaryFolder();
    const { code, stderr } = await agent(["--replay", pongTranscript, "--out", "pong"], cwd);
    // After a change of the prompts: node --conditions=@fetchwork/source
    // packages/agent/test/write-transcript.ts
    expect(stderr).not.toContain("the transcript has no answer");
    expect(code).toBe(0);
    expect(programOf(join(cwd, "pong"))).toEqual(Object.fromEntries(pong));
    expect(readFileSync(pongTranscript, "utf8").split("\n", 1)[0]).toContain('"source":"scripted"');
  }, 60_000);
});
