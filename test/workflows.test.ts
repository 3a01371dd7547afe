import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readText, root } from "../scripts/workspace-packages.ts";

const workflows = globSync(".github/workflows/*.yml", { cwd: root }).toSorted();

function actionlint(...files: readonly string[]): {
  readonly status: number | null;
  readonly output: string;
} {
  const script = join(root, "scripts/lint-workflows.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...files], {
    cwd: root,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe("the workflows", () => {
  it("pass actionlint", () => {
    expect(workflows.length).toBeGreaterThan(1);
    expect(actionlint(...workflows)).toEqual({ status: 0, output: "" });
  });

  it("are refused by actionlint for an unknown key, context or job", () => {
    const folder = mkdtempSync(join(tmpdir(), "workflows-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "wrong.yml");
    const lines = [
      "on: push",
      "jobs:",
      "  a:",
      "    runs-on: ubuntu-24.04",
      "    needs: missing",
      "    steps: [{ run: 'echo ${{ secret.X }}', unknown: 1 }]",
    ];
    writeFileSync(file, lines.join("\n"));
    const { status, output } = actionlint(file);
    expect(status).toBe(1);
    expect(output).toContain("missing");
    expect(output).toContain("secret");
    expect(output).toContain("unknown");
  });

  it.each(workflows)("%s uses actions at a commit, not at a tag that can move", (file) => {
    const uses = [...readText(file).matchAll(/uses: (\S+)/g)].map(([, action = ""]) => action);
    expect(uses).not.toEqual([]);
    expect(uses.filter((action) => !/@[\da-f]{40}$/.test(action))).toEqual([]);
  });

  it.each(workflows)("%s grants its token only read access by default", (file) => {
    expect(readText(file)).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
  });
});

describe("the release workflow", () => {
  const steps = readText(".github/workflows/release.yml").split(/^ {6}- /m);

  it("publishes only where it was asked to, by hand, on a tag", () => {
    const publishing = steps.filter((step) => step.includes("--publish"));
    expect(publishing).toHaveLength(1);
    expect(publishing[0]).toContain("if: ${{ inputs.publish }}");
    expect(readText(".github/workflows/release.yml")).toContain("if: github.ref_type == 'tag'");
    expect(readText(".github/workflows/release.yml")).toContain("default: false");
  });
});
