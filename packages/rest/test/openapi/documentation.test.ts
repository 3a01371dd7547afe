import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../../assets/swagger-ui");
const manifest = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
) as Readonly<Record<"files" | "dependencies", object>>;

describe("the files of the reference page", () => {
  const { sha256 } = JSON.parse(readFileSync(join(folder, "origin.json"), "utf8")) as {
    readonly sha256: Readonly<Record<string, string>>;
  };

  it("are those of the release that origin.json names", () => {
    const names = readdirSync(folder).filter((name) => name !== "origin.json");
    const found = names.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]);
    expect(Object.fromEntries(found)).toEqual(sha256);
  });

  it("come with their licence, in the package", () => {
    expect(Object.keys(sha256)).toEqual(
      expect.arrayContaining(["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"]),
    );
    expect(manifest.files).toContain("assets");
    expect(Object.keys(manifest.dependencies)).not.toContain("swagger-ui-dist");
  });
});
