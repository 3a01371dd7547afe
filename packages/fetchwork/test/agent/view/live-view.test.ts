import type { AgentEvent, Usage } from "@fetchwork/agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRunView } from "../../../src/agent/view/run-view.ts";
import { memoryIo } from "../../memory-io.ts";

const usage: Usage = { inputTokens: 1_000, outputTokens: 234, cost: 0.0123, calls: 2 };

// oxlint-disable-next-line no-control-regex -- these are what it is about
const pieces = /\u001b\[(\d+)A|\u001b\[J|\u001b\[\d*m|\r|\n|[^\u001b\r\n]+|[^]/g;

/**
 * What a terminal shows after it got this, for the sequences that we use. Anything else is an
 * error.
 */
function screenOf(written: string, columns: number, rows = Infinity): readonly string[] {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  let top = 0;
  for (const [piece, up] of written.matchAll(pieces)) {
    if (up !== undefined) row -= Number(up);
    else if (piece === "\u001b[J") {
      lines.length = row + 1;
      lines[row] = (lines[row] ?? "").slice(0, column);
    } else if (piece === "\r") column = 0;
    else if (piece === "\n") {
      row += 1;
      column = 0;
      lines[row] ??= "";
      // What was above is out of reach.
      top = Math.max(top, row - rows + 1);
    } else if (!piece.startsWith("\u001b[")) {
      if (piece.startsWith("\u001b")) throw new Error("an unknown sequence");
      const line = (lines[row] ?? "").slice(0, column) + piece;
      // It would wrap, and be more than one line to take away.
      if (line.length > columns) throw new Error(`wider than ${columns}: ${line}`);
      lines[row] = line;
      column = line.length;
    }
    if (row < top) throw new Error("above the screen");
  }
  return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

function liveView(columns = 60, rows?: number) {
  const written: string[] = [];
  const stderr = {
    isTerminal: true,
    columns,
    rows,
    write: (content: string | Uint8Array) => void written.push(String(content)),
  };
  const io = memoryIo({ stderr });
  const view = createRunView(io, { asJson: false, isQuiet: false, isDebug: false, isStill: false });
  const show = (...events: readonly AgentEvent[]): void => {
    for (const event of events) view.show(event);
  };
  return { view, show, screen: () => screenOf(written.join(""), columns, rows) };
}

const planned: readonly AgentEvent[] = [
  { type: "started", runId: "r1", resumed: false },
  { type: "step", step: "plan" },
  { type: "planned", sharedDeps: "# Plan", usage },
  {
    type: "files",
    files: ["a.js", "b.js", "c.js"].map((path) => ({
      path,
      purpose: "",
      dependsOn: [],
      exports: [],
    })),
    levels: [["a.js", "b.js"], ["c.js"]],
    usage,
  },
];

describe("the live view", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("shows planned, finished and running files, tokens, cost and time below the permanent lines", () => {
    const { view, show, screen } = liveView();
    show(
      ...planned,
      { type: "step", step: "file", path: "a.js" },
      { type: "step", step: "file", path: "b.js" },
      { type: "token", step: "file", path: "b.js", text: "x".repeat(1_500) },
      { type: "file", path: "a.js", bytes: 12, done: 1, total: 3, usage },
    );
    vi.advanceTimersByTime(65_000);
    expect(screen()).toEqual([
      "run      r1",
      "planned  1,234 tokens, $0.0123",
      "files    3 in 2 levels",
      "file     1/3 a.js (12 bytes)",
      "file  1/3 files  1 running  1,234 tokens, $0.0123  1:05",
      "  b.js  1,500 characters",
    ]);
    view.end();
  });

  it("erases everything but the permanent lines when it ends", () => {
    const { view, show, screen } = liveView();
    show(...planned, { type: "step", step: "file", path: "a.js" });
    vi.advanceTimersByTime(1_000);
    view.end();
    expect(screen()).toEqual([
      "run      r1",
      "planned  1,234 tokens, $0.0123",
      "files    3 in 2 levels",
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("restarts the count of a file whose response was interrupted", () => {
    const { view, show, screen } = liveView();
    const code = "ERR_AGENT_PROVIDER";
    show(
      ...planned,
      { type: "step", step: "file", path: "a.js" },
      { type: "token", step: "file", path: "a.js", text: "xxx" },
      {
        type: "retry",
        step: "file",
        path: "a.js",
        attempt: 1,
        delay: 1500,
        code,
        message: "broke off",
      },
    );
    vi.advanceTimersByTime(100);
    expect(screen()).toContain("retry    a.js: broke off; attempt 2 in 1.5 s");
    expect(screen()).toContain("  a.js  0 characters");
    view.end();
  });

  it("never wraps a line and shows at most eight files", () => {
    const { view, show, screen } = liveView(30);
    show({ type: "started", runId: "r", resumed: true });
    for (let at = 0; at < 12; at += 1) {
      show({ type: "step", step: "file", path: `src/${"\u6f22".repeat(20)}/${at}.js` });
    }
    vi.advanceTimersByTime(100);
    expect(screen()).toHaveLength(1 + 1 + 8 + 1);
    expect(screen().at(-1)).toBe("  and 4 more");
    view.end();
  });

  it("escapes control sequences in paths and messages", () => {
    const { view, show, screen } = liveView();
    const path = "a\u001b[2A\r.js";
    show(
      ...planned,
      { type: "step", step: "file", path },
      {
        type: "retry",
        step: "file",
        path,
        attempt: 1,
        delay: 1,
        code: "ERR_AGENT_PROVIDER",
        message: "\u009b1A",
      },
      { type: "file", path, bytes: 1, done: 1, total: 3, usage },
    );
    vi.advanceTimersByTime(100);
    expect(screen().slice(3, 5)).toEqual([
      "retry    a?[2A?.js: ?1A; attempt 2 in 0.0 s",
      "file     1/3 a?[2A?.js (1 bytes)",
    ]);
    view.end();
  });

  it("fits into a low terminal, whose scrolled lines it could not erase", () => {
    const { view, show, screen } = liveView(60, 4);
    show(...planned);
    for (const path of ["a.js", "b.js", "c.js"]) show({ type: "step", step: "file", path });
    show({ type: "token", step: "file", path: "a.js", text: "abc" });
    vi.advanceTimersByTime(500);
    expect(screen().slice(-3)).toEqual([
      expect.stringContaining("0/3 files  3 running") as string,
      "  a.js  3 characters",
      "  b.js  0 characters",
    ]);
    view.end();
    expect(screen().join("\n")).not.toContain("characters");
  });
});
