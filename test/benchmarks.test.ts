import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Measure, PartResults, Row } from "../bench/harness/results.ts";
import type { About } from "../bench/report/about.ts";
import { abouts } from "../bench/report/abouts.ts";
import { figure, ratioText, spreadText } from "../bench/report/figure.ts";
import { bench, docs, readInputs, resultsFile } from "../bench/report/inputs.ts";
import { lossesOf, lossList } from "../bench/report/losses.ts";
import { measureTables } from "../bench/report/measure-tables.ts";
import { render } from "../bench/report/render.ts";
import { cellsOf, isMeant } from "../bench/report/selection.ts";
import { table } from "../bench/report/table.ts";
import { outcomeOf, targetTable } from "../bench/report/targets.ts";

const UPDATE = "cd bench && npm run compare -- --render";

describe("docs/benchmarks.md", () => {
  const page = render(readInputs());

  it(`matches the recorded results: ${UPDATE}`, () => {
    expect(readFileSync(join(docs, "benchmarks.md"), "utf8")).toBe(page.markdown);
  });

  it(`has exactly the picture and the tables of the recorded results: ${UPDATE}`, () => {
    expect(readdirSync(join(docs, "plots"))).toEqual(["ratios.svg"]);
    expect(readFileSync(join(docs, "plots/ratios.svg"), "utf8")).toBe(page.plot);
    const files = readdirSync(join(bench, "results")).filter((name) => name.endsWith(".md"));
    expect(files.toSorted()).toEqual(
      [...page.tables.keys()].map((part) => `${part}.md`).toSorted(),
    );
    for (const [part, text] of page.tables) {
      expect(readFileSync(join(bench, "results", `${part}.md`), "utf8")).toBe(text);
    }
  });

  it("has a section for every part of bench/, and every part has a program", () => {
    const folders = readdirSync(bench).filter((name) => existsSync(join(bench, name, "run.mjs")));
    expect(folders.toSorted()).toEqual(abouts.map(({ part }) => part).toSorted());
    for (const { title } of abouts) expect(page.markdown).toContain(`\n### ${title}\n`);
  });

  it("has figures for every target and every explanation unless a part was skipped", () => {
    const whole = readInputs().flatMap(({ about, results }) => {
      if (results === undefined) return [{ about, cells: [] }];
      const isWhole = Object.keys(results.absent).every((name) => name === "strapi");
      return isWhole ? [{ about, cells: cellsOf(results) }] : [];
    });
    const unused = whole.flatMap(({ about, cells }) =>
      [...about.targets, ...about.explanations]
        .filter(({ where }) => !cells.some((cell) => isMeant(cell, where)))
        .map(({ text }) => `${about.part}: ${text}`),
    );
    expect(unused.filter((text) => !text.includes("strapi"))).toEqual([]);
  });

  it("keeps the results of each part in a file of its name", () => {
    for (const { part } of abouts.filter(({ part }) => existsSync(resultsFile(part)))) {
      const results = JSON.parse(readFileSync(resultsFile(part), "utf8")) as PartResults;
      expect(results.part).toBe(part);
      expect(results.date).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
      expect(results.machine.node).toMatch(/^v\d+\./);
      expect(Object.keys(results.load)).toEqual(["start", "end"]);
    }
  });
});

describe("render", () => {
  const page = render([{ about: about(), method: "By hand.", results: results() }]);
  const tables = page.tables.get("part");

  it("puts the machine and the date above all", () => {
    expect(page.markdown).toMatch(/^# Benchmarks\n/);
    expect(page.markdown).toContain("Machine: CPU, 2 cores, 8 GiB, Linux, Node v24.0.0.");
    expect(page.markdown).toContain("Measured: 2026-01-02, in 2 minutes");
  });

  it("names versions, load, rounds and what was left out above the tables of a part", () => {
    expect(tables).toMatch(/^# A part\n/);
    expect(tables).toContain("2026-01-02 03:04 UTC, Node v24.0.0, load 0.1 to 1.2, 9 rounds.");
    expect(tables).toContain("- Peers: peer 1.0.0.");
    expect(tables).toContain("- Not measured: strapi (it is not installed).");
  });

  it("lists the losses of a part with the link to its tables", () => {
    expect(page.markdown).toMatch(
      /### A part\n\n- Against peer on SQLite: write 1\.50[^]*\]\(\.\.\/bench\/results\/part\.md\)/,
    );
  });

  it("reports that a run was a quick one", () => {
    const quick = render([
      { about: about(), method: "", results: { ...results(), isQuick: true } },
    ]);
    expect(quick.tables.get("part")).toContain("9 rounds, a quick run.");
    expect(tables).not.toContain("quick run");
  });

  it("reports that the machine did other work too", () => {
    const load = { start: 2.1, end: 3 };
    const shared = render([{ about: about(), method: "", results: { ...results(), load } }]);
    expect(shared.markdown).toContain("It did other work too");
    expect(page.markdown).not.toContain("It did other work too");
  });

  it("names a part that was never measured", () => {
    const { markdown } = render([{ about: about(), method: "By hand." }]);
    expect(markdown).toContain("Not measured yet.");
    expect(markdown).toContain("not measured");
  });

  it("draws a well-formed picture, with text as text", () => {
    for (const plot of [page.plot, render(readInputs()).plot]) {
      expect(unclosed(plot ?? "")).toEqual([]);
      expect(plot).toContain("prefers-color-scheme: dark");
      expect(plot).toContain("<text");
      expect(plot).not.toMatch(/NaN|undefined|Infinity/);
    }
  });
});

describe("targets", () => {
  const target = about().targets[0];
  if (target === undefined) throw new Error("The fixture has a target");

  it.each([
    [2, "yes"],
    [1, "in 1 of 2"],
    [0.1, "no"],
  ])("is reached as far as the medians are below %d: %s", (atMost, reached) => {
    expect(targetTable([outcomeOf({ ...target, atMost }, results())])).toContain(`| ${reached} `);
  });

  it("shows the worst with its quartiles", () => {
    expect(targetTable([outcomeOf(target, results())])).toContain(
      "1.50 (1.20 to 1.80): write on SQLite, peer",
    );
  });

  it("measures values by ours", () => {
    const where = { works: ["read"], rows: ["fetchwork"] };
    const outcome = outcomeOf({ ...target, of: "value", where, atMost: 10 }, results());
    expect(outcome.missed).toEqual([]);
    expect(targetTable([outcome])).toContain("5 (4 to 6) CPU µs");
  });
});

describe("losses", () => {
  it("are the rows above 1, with their explanation, those without one last", () => {
    const list = lossList(lossesOf(results()), [
      { where: { works: ["write"] }, text: "The disk." },
    ]);
    expect(list).toEqual(["- Against peer on SQLite: write 1.50 (1.20 to 1.80). The disk."]);
    expect(lossList(lossesOf(results()), [])).toEqual([
      "- Against peer on SQLite: write 1.50 (1.20 to 1.80).",
    ]);
  });

  it("count as level if 1 lies between the quartiles, and never include our own rows", () => {
    const level = { median: 1.1, low: 0.9, high: 1.3 };
    const rows: readonly Row[] = [
      own(5),
      { ...peer(4, level) },
      { ...peer(2, level), name: "ours", own: true },
    ];
    const found = lossesOf({ ...results(), measures: [measure("read", rows)] });
    expect(found.clear).toEqual([]);
    expect(lossList(found, [])).toEqual([
      "- Level, with 1 between the quartiles. Against peer on SQLite: read 1.10 (0.90 to 1.30).",
    ]);
  });
});

describe("tables", () => {
  it("are laid out as Prettier does it", () => {
    expect(
      table(
        ["a", "b"],
        [
          ["long text", "1"],
          ["µ|", "10"],
        ],
      ),
    ).toBe(
      [
        "| a         |   b |",
        "| --------- | --: |",
        "| long text |   1 |",
        "| µ\\|       |  10 |",
      ].join("\n"),
    );
  });

  it("put two next to each other, with one line for each kind of work", () => {
    const [only] = measureTables(results().measures);
    expect(only).toContain("| CPU µs | fetchwork | peer | ours / theirs (quartiles) |");
    expect(only).toContain("| write  |         6 |    4 |       1.50 (1.20 to 1.80) |");
  });

  it("have a line for each subject of one kind of work, with all further figures", () => {
    const rows = [own(5), { ...peer(10, one(0.5)), rate: 1000, more: { bytes: 7 } }];
    const [only] = measureTables([measure("read", rows)]);
    expect(only).toContain(
      "| read      | CPU µs | per second | ours / theirs (quartiles) | bytes |",
    );
    expect(only).toContain(
      "| peer      |     10 |      1,000 |                      0.50 |     7 |",
    );
  });

  it("show the range of counts, and of nothing else", () => {
    const rows = [own(1500), { ...peer(10, one(0.5)), value: { median: 10, low: 9, high: 11 } }];
    const counts: Measure = { ...measure("read", rows), isCount: true };
    const [range] = measureTables([counts]);
    expect(range).toContain("| fetchwork | 1,500 (1,499 to 1,501) |");
    expect(range).toMatch(/\| peer +\| +10 \(9 to 11\) \|/);
    expect(measureTables([measure("read", rows)])[0]).toMatch(/\| fetchwork +\| +1,500 \|/);
  });

  it("explain why there is no value", () => {
    const rows = [own(5), peer(10, one(0.5)), { name: "other", failed: "500" }];
    expect(measureTables([measure("read", rows)])[0]).toMatch(/\| other +\| +500 \|/);
  });
});

describe("figures", () => {
  it.each([
    [0, "0"],
    [0.1234, "0.123"],
    [1.234, "1.23"],
    [12.34, "12.3"],
    [1234.5, "1,235"],
    [7, "7"],
  ])("%d is %s", (value, text) => expect(figure(value)).toBe(text));

  it.each([
    [0.012, "0.012"],
    [0.5, "0.50"],
    [1.04, "1.04"],
    [12.34, "12.3"],
  ])("the ratio %d is %s", (value, text) => expect(ratioText(value)).toBe(text));

  it("omits the quartiles after a single round", () => {
    expect(spreadText(one(0.5))).toBe("0.50");
  });
});

function about(): About {
  return {
    part: "part",
    title: "A part",
    minutes: 1,
    targets: [{ text: "At most as much", where: {}, of: "ratio", atMost: 1 }],
    explanations: [],
  };
}

function results(): PartResults {
  return {
    part: "part",
    date: "2026-01-02T03:04:05.000Z",
    commit: "abc1234",
    isQuick: false,
    machine: { cpu: "CPU", cores: 2, gibibytes: 8, system: "Linux", node: "v24.0.0" },
    load: { start: 0.1, end: 1.2 },
    seconds: 90,
    versions: { peer: "1.0.0" },
    absent: { strapi: "it is not installed" },
    measures: [
      measure("read", [own(5), peer(10, { median: 0.5, low: 0.4, high: 0.6 })]),
      measure("write", [own(6), peer(4, { median: 1.5, low: 1.2, high: 1.8 })]),
    ],
  };
}

function measure(work: string, rows: readonly Row[]): Measure {
  return { group: "SQLite", work, unit: "CPU µs", rounds: 9, rows };
}

function own(median: number): Row {
  return { name: "fetchwork", own: true, value: { median, low: median - 1, high: median + 1 } };
}

function peer(median: number, ratio: NonNullable<Row["ratio"]>): Row {
  return { name: "peer", value: one(median), ratio };
}

function one(median: number): NonNullable<Row["value"]> {
  return { median, low: median, high: median };
}

/** Names of elements that are not closed where they should be. */
function unclosed(svg: string): readonly string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  const body = svg.replace(/<style>[^<]*<\/style>/g, "");
  expect(body.replace(/<[^<>]*>/g, "")).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;)/);
  for (const [, end, name = "", attributes = "", alone] of body.matchAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(\/?)>/g,
  )) {
    if (end === "/" && open.pop() !== name) wrong.push(name);
    if (end !== "/" && alone !== "/") open.push(name);
    if (/="[^"]*&(?!amp;|lt;|gt;|quot;)/.test(attributes)) wrong.push(attributes);
  }
  return [...wrong, ...open];
}
