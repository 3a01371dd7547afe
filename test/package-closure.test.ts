import { describe, expect, it } from "vitest";
import { closureOf, neededBy } from "../scripts/package-closure.ts";

describe("neededBy", () => {
  it("names dependencies and peers, except optional peers", () => {
    const manifest = {
      dependencies: { kit: "1" },
      peerDependencies: { http: "1", documents: "1" },
      peerDependenciesMeta: { documents: { optional: true } },
    };
    expect(neededBy(manifest)).toEqual(["kit", "http"]);
  });

  it("names nothing for a package without dependencies", () => {
    expect(neededBy({})).toEqual([]);
  });
});

describe("closureOf", () => {
  const packages = new Map([
    ["kit", { needs: [] }],
    ["http", { needs: ["kit", "undici"] }],
    ["rest", { needs: ["http", "kit"] }],
    ["agent", { needs: ["http"] }],
  ]);

  it("has the packages and what they need, each once, without packages of others", () => {
    expect([...closureOf(["rest", "http"], packages).keys()].toSorted()).toEqual([
      "http",
      "kit",
      "rest",
    ]);
  });

  it("ends when packages need each other", () => {
    const circle = new Map([
      ["a", { needs: ["b"] }],
      ["b", { needs: ["a"] }],
    ]);
    expect([...closureOf(["a"], circle).keys()].toSorted()).toEqual(["a", "b"]);
  });
});
