import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { allCodeBlocks, codeBlocks } from "../scripts/markdown.ts";
import { freePort } from "./free-port.ts";
import { answers, pasted, runsDeployed, startDev } from "./pasted.ts";

const root = join(import.meta.dirname, "..");

it("the tutorial of a shop works as pasted", { timeout: 900_000 }, async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tutorial-shop-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const project = join(folder, "marketplace");
  const origin = `http://localhost:${await freePort()}`;
  const text = (await readFile(join(root, "docs/tutorial-shop.md"), "utf8"))
    .replaceAll("../marketplace", project)
    .replaceAll("http://localhost:9000", origin)
    .replaceAll("8787", String(await freePort()));
  const [before = "", production = expect.fail("no section about production")] =
    text.split("\n## 7. ");

  let cwd = root;
  let output = "";
  let dev: ReturnType<typeof startDev> | undefined;
  let restarts = 0;
  for (const { language, text: block } of allCodeBlocks(before)) {
    if (language === "ts") {
      const [, file = expect.fail(block)] = /^\/\/ (src\/\S+)\n/.exec(block) ?? [];
      restarts = restartsOf(dev?.output());
      await mkdir(dirname(join(project, file)), { recursive: true });
      await writeFile(join(project, file), block);
      if (dev && !file.endsWith(".test.ts")) await restarted(dev.output, restarts);
    } else if (language === "json") {
      expect(comparable(JSON.parse(output))).toEqual(comparable(JSON.parse(block)));
    } else if (language === "text") {
      for (const line of block.trimEnd().split("\n")) expect(output.split("\n")).toContain(line);
    } else if (block.trim() === "npm run dev") {
      await dev?.stop();
      dev = startDev(project, origin);
      await answers(`${origin}/health`);
    } else {
      expect(language).toBe("sh");
      restarts = restartsOf(dev?.output());
      output = await pasted(inOneShell(block, join(folder, "shell")), cwd, { NO_COLOR: "1" });
      if (dev && block.includes(">> .env")) await restarted(dev.output, restarts);
      cwd = project;
    }
  }
  await dev?.stop();

  await pasted(codeBlocks(production, "sh").join("\n"), project);
  const deployed = join(folder, "deployed");
  await runsDeployed(production, { project, deployed, data: "/var/lib/marketplace" });
});

/** Lines that see the variables and functions of the lines before, as in one terminal. */
function inOneShell(lines: string, state: string): string {
  return `touch ${state}; . ${state}\n${lines}\n{ declare -f; declare -p | grep -E '^declare -[-x]* [A-Za-z]+=' | grep -v 'PWD='; } > ${state}`;
}

/** JSON without what differs from run to run: identifiers and times. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "an identifier")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time"),
  );
}

const restartsOf = (output = ""): number => output.split("dev: starts again").length - 1;

/** Waits until a server has started again since its output had a number of restarts. */
async function restarted(output: () => string, restarts: number): Promise<void> {
  const isBack = (): boolean => {
    const [, last] = /dev: starts again(?![\s\S]*dev: starts again)([\s\S]*)$/.exec(output()) ?? [];
    return restartsOf(output()) > restarts && (last ?? "").includes("Ctrl-C stops it");
  };
  await expect.poll(isBack, { timeout: 20_000, interval: 50 }).toBe(true);
}
