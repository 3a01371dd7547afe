import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { annotations } from "../../src/verify/annotations.ts";
import type { Fault } from "../../src/verify/faults.ts";
import { htmlOf } from "../../src/verify/html.ts";
import { makeProject, runVerify } from "./project.ts";

// Each runs a verification, and other tests may need the processors.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

interface Sarif {
  readonly $schema: string;
  readonly version: string;
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly name: string;
        readonly rules: readonly {
          readonly id: string;
          readonly help: { readonly text: string };
        }[];
      };
    };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly message: { readonly text: string };
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number };
        };
      }[];
    }[];
  }[];
}

describe("fetchwork verify in GitHub Actions", () => {
  let folder = "";
  let ended: Awaited<ReturnType<typeof runVerify>>;
  let removeFolder = (): Promise<void> => Promise.resolve();

  // One run writes all three reports.
  beforeAll(async () => {
    folder = await makeProject({}, (remove) => (removeFolder = remove));
    const env = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: dirname(folder) };
    ended = await runVerify(["--sarif", "out.sarif", "--html", "out.html"], folder, env);
  });

  afterAll(() => removeFolder());

  it("ends with the exit code of findings", () => expect(ended.code).toBe(1));

  it("writes each finding into --sarif with its rule and the file of its definition", async () => {
    const log: Sarif = JSON.parse(await readFile(join(folder, "out.sarif"), "utf8"));
    expect(log).toMatchObject({ version: "2.1.0", runs: [{ tool: { driver: {} } }] });
    expect(log.$schema).toContain("sarif-2.1.0");
    const [run] = log.runs;
    const rules = run?.tool.driver.rules ?? [];
    expect(run?.tool.driver.name).not.toBe("");
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    for (const { help } of rules) expect(help.text).not.toBe("");
    for (const result of run?.results ?? []) {
      expect(rules[result.ruleIndex]?.id).toBe(result.ruleId);
      expect(result.message.text).not.toBe("");
    }
    const places = run?.results.map(({ locations: [first], ruleId }) => {
      const { artifactLocation, region } = first?.physicalLocation ?? {};
      return [ruleId, artifactLocation?.uri, region?.startLine];
    });
    expect(places).toContainEqual(["secret-name", `${basename(folder)}/src/api/note.ts`, 5]);
    expect(places).toContainEqual(["server-error", `${basename(folder)}/src/app.ts`, 12]);
  });

  it("writes one page without scripts and other hosts into --html", async () => {
    const page = await readFile(join(folder, "out.html"), "utf8");
    expect(page).not.toMatch(/<script|https?:|src=|href=/);
    expect(page).toContain("color-scheme: light dark");
    expect(page).toContain("<caption>note</caption>");
    expect(page).toMatch(/<tr><td>token(<td>reads)+\n/);
    expect(page).toContain("<tr><td>secret-name<td>note.token<td>");
  });

  it("prints annotations with paths from the repository", () => {
    const lines = ended.stdout.split("\n").filter((line) => line.startsWith("::error "));
    const file = `${basename(folder)}/src/api/note.ts`;
    expect(lines).toContainEqual(
      expect.stringContaining(`::error file=${file},line=5,title=secret-name note.token::`),
    );
    expect(lines.every((line) => line.includes("%0A"))).toBe(true);
  });
});

it("fetchwork verify --json stays JSON in GitHub Actions, and --sarif has what the baseline has not", async () => {
  const folder = await makeProject({ "base.json": '{ "reads": {} }' });
  const args = ["--json", "--baseline", "base.json", "--sarif", "out.sarif"];
  const { stderr, stdout } = await runVerify(args, folder, { GITHUB_ACTIONS: "true" });
  const { findings }: { findings: { fix: string }[] } = JSON.parse(stdout);
  expect(findings.length).toBeGreaterThan(1);
  for (const { fix } of findings) expect(fix).toMatch(/\w+ \w+/);
  expect(stderr).toContain("::error file=src/api/note.ts,line=5,");
  const log: Sarif = JSON.parse(await readFile(join(folder, "out.sarif"), "utf8"));
  const opened = log.runs[0]?.results.filter(({ ruleId }) => ruleId === "opened") ?? [];
  expect(opened.map(({ message }) => message.text).join()).toContain("anonymous reads note.token");
});

it("fetchwork verify --scale shows what lists cost, and names the index that is missing", async () => {
  const folder = await makeProject();
  const { code, stdout } = await runVerify(["--scale", "2000"], folder);
  expect(code).toBe(1);
  expect(stdout).not.toContain("::error");
  expect(stdout).toMatch(/cost-grows +note\.tags /);
  expect(stdout).toContain('declare indexes: ["tags"]');
  expect(stdout).toMatch(/note +filter +\w+ +[\d.]+ -> [\d.]+ ms {2}\/notes\?tags=/);
  expect(await runVerify(["--scale", "10"], folder)).toMatchObject({ code: 2, stdout: "" });
});

const hostile: Fault = {
  code: "field-read",
  subject: "a<b>.c",
  message: "100%\r\n::warning::& <script>",
  fix: '"Hide" it',
  key: "k",
  file: "src/a b,c:d.ts",
  line: 3,
};

it("the HTML page escapes everything that it shows", () => {
  const report = {
    costs: [],
    reads: { "<i>": { "<u>": ["<s>"] } },
    requests: 1,
    service: "</title><script>",
    skipped: ["<em>"],
  };
  const page = htmlOf(report, [hostile]);
  expect(page).not.toMatch(/<(b|i|u|s|em|script)>/);
  expect(page).toContain("<td>&#60;s&#62;");
  expect(page).toContain("<li>&#60;em&#62;");
  expect(page.match(/<\/title>/g)).toHaveLength(1);
});

it("annotations escape lines, percent signs and what separates properties", () => {
  expect(annotations([hostile])).toBe(
    "::error file=src/a b%2Cc%3Ad.ts,line=3,title=field-read a<b>.c::" +
      '100%25%0D%0A::warning::& <script>%0A"Hide" it\n',
  );
});
