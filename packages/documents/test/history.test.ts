import { describe, expect, it } from "vitest";
import { findAnomalies, type Run, type Step } from "./history.ts";

describe("The checker of histories", () => {
  const read = (key: string, value: string, version: number): Step => {
    return { kind: "read", key, value, version };
  };
  const write = (key: string, value: string, version: number): Step => {
    return { kind: "write", key, value, version };
  };
  const run = (name: string, steps: readonly Step[], isCommitted = true): Run => {
    return { name, steps, isCommitted };
  };
  const first = run("first", [write("a", "a1", 2), write("b", "b1", 2)]);

  it("accepts transactions one after the other", () => {
    const second = run("second", [
      read("a", "a1", 2),
      write("a", "a2", 3),
      read("a", "a2", 3),
      write("a", "a3", 4),
      read("b", "b1", 2),
    ]);
    const third = run("third", [read("a", "a3", 4), write("b", "b2", 3)]);
    const undone = run("undone", [read("a", "a3", 4), write("a", "lost", 5)], false);
    expect(findAnomalies([third, undone, second, first])).toEqual([]);
  });

  it.each<[string, readonly Run[]]>([
    [
      "lost update",
      [
        run("one", [read("a", "a1", 2), write("a", "a2", 3)]),
        run("two", [read("a", "a1", 2), write("a", "a3", 4)]),
      ],
    ],
    ["lost update", [run("one", [write("a", "a2", 3)]), run("two", [write("a", "a3", 3)])]],
    ["dirty read", [run("one", [write("a", "x", 3)], false), run("two", [read("a", "x", 3)])]],
    [
      "intermediate read",
      [run("one", [write("a", "x", 3), write("a", "y", 4)]), run("two", [read("a", "x", 3)])],
    ],
    [
      "non-repeatable read",
      [run("one", [write("a", "x", 3)]), run("two", [read("a", "a1", 2), read("a", "x", 3)])],
    ],
    ["own write not read", [run("one", [write("a", "x", 3), read("a", "a1", 2)])]],
    ["unknown version", [run("one", [read("a", "from nowhere", 9)])]],
    [
      // Write skew: each reads what the other one writes, and nobody's update is lost.
      "cycle",
      [
        run("one", [read("a", "a1", 2), write("b", "b2", 3)]),
        run("two", [read("b", "b1", 2), write("a", "a2", 3)]),
      ],
    ],
    [
      // A reader that sees one half of each of two transactions.
      "cycle",
      [
        run("one", [write("a", "a2", 3), write("b", "b2", 3)]),
        run("two", [read("a", "a2", 3), read("b", "b1", 2)]),
      ],
    ],
  ])("finds a %s", (kind, runs) => {
    expect(findAnomalies([first, ...runs])).toContainEqual(expect.objectContaining({ kind }));
  });
});
