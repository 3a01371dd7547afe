import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Diagnostic } from "../src/check/diagnostic.ts";
import { coverageOf } from "../src/verify/coverage.ts";
import { findTool } from "../src/verify/find-tool.ts";
import { goCheck, pythonCheck, rustCheck, shellCheck } from "../src/verify/language-verifiers.ts";
import { createSandbox } from "../src/verify/sandbox.ts";
import type { Verifier } from "../src/verify/verifier.ts";
import { verifyFiles } from "../src/verify/verify-files.ts";

const sandbox = await createSandbox({ timeout: 120_000 });
const { signal } = new AbortController();
const has = { python: findTool("python3") !== undefined, cargo: findTool("cargo") !== undefined };

async function faultsOf(
  verifiers: readonly Verifier[],
  files: Readonly<Record<string, string>>,
): Promise<readonly Diagnostic[]> {
  return verifyFiles(new Map(Object.entries(files)), undefined, { verifiers, sandbox, signal });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a tool that is not installed", () => {
  it("leaves its files unchecked", () => {
    vi.stubEnv("PATH", "/nowhere");
    const verifiers = [...pythonCheck(), ...goCheck(), ...rustCheck()];
    const files = new Map([
      ["a.py", "x"],
      ["go.mod", "module a\n"],
      ["a.go", "x"],
      ["Cargo.toml", "x"],
      ["a.rs", "x"],
    ]);
    expect(verifiers.some((one) => one.applies(files))).toBe(false);
    expect(coverageOf(files, verifiers).unchecked).toContain("a.py");
  });
});

describe.skipIf(!has.python)("pythonCheck (skipped where python3 is not installed)", () => {
  it("finds faults of syntax in files with any name, and runs none", async () => {
    const found = await faultsOf(pythonCheck(), {
      "Here is the code.py": "Here is the code:\n\nprint(1)\n",
      "-c.py": "import os\nos.abort()\n",
      "a 'b.py": "x = 1\ndef save(x:\n    pass\n",
      "zero.py": "a = 1\0",
    });
    expect(found.map(({ path, line }) => [path, line])).toEqual([
      ["Here is the code.py", 1],
      ["a 'b.py", 2],
      ["zero.py", undefined],
    ]);
  });

  const half = (by: number): string => `def half(n):\n    return n / ${by}\n`;
  const tests = (name: string): string =>
    `import unittest\nfrom app.${name} import half\n\nclass Test(unittest.TestCase):\n` +
    `    def test_${name}(self):\n        self.assertEqual(half(4), 2)\n`;

  it("reports each test that fails, and names the module that it is about", async () => {
    const files = {
      "app/__init__.py": "",
      "app/one.py": half(3),
      "app/two.py": half(8),
      "test_one.py": tests("one"),
      "test_two.py": tests("two"),
    };
    const found = await faultsOf(pythonCheck(), files);
    expect(found.map(({ path, related }) => [path, related])).toEqual([
      ["app/one.py", "test_one.py"],
      ["app/two.py", "test_two.py"],
    ]);
    expect(found[0]?.message).toContain("1.33");
    const repaired = await faultsOf(pythonCheck(), { ...files, "app/one.py": half(2) });
    expect(repaired).toEqual(found.filter(({ path }) => path === "app/two.py"));
  }, 60_000);

  it("says that tests were not checked where a package is not installed", async () => {
    const files = { "test_a.py": "import unittest\nimport no_such_package\n" };
    expect(await faultsOf(pythonCheck(), files)).toMatchObject([
      { severity: "warning", message: expect.stringContaining("no_such_package") as string },
    ]);
  }, 60_000);
});

describe.skipIf(!has.cargo)("rustCheck (skipped where cargo is not installed)", () => {
  const files = {
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod one;\npub mod two;\n",
    "src/one.rs": "pub fn half(n: i32) -> i32 {\n    n / 3\n}\n",
    "src/two.rs": "pub fn half(n: i32) -> i32 {\n    n / 4\n}\n",
    "tests/halves.rs":
      "#[test]\nfn one() {\n    assert_eq!(a::one::half(4), 2);\n}\n\n#[test]\nfn two() {\n    assert_eq!(a::two::half(4), 2);\n}\n",
  };

  it("reports each test that fails", async () => {
    const all = await faultsOf(rustCheck(), files);
    const found = all.toSorted((a, b) => a.message.localeCompare(b.message));
    expect(found.map(({ message }) => message.slice(0, 10))).toEqual(['test "one"', 'test "two"']);
    expect(found[0]?.message).toContain("left: 1 | right: 2");
    const right = { ...files, "src/one.rs": "pub fn half(n: i32) -> i32 {\n    n / 2\n}\n" };
    expect(await faultsOf(rustCheck(), right)).toEqual([found[1]]);
  }, 120_000);

  it("names the line of what does not compile", async () => {
    const wrong = { ...files, "src/one.rs": "pub fn half(n: i32) -> i32 {\n    n +\n}\n" };
    expect(await faultsOf(rustCheck(), wrong)).toMatchObject([{ path: "src/one.rs", line: 3 }]);
  }, 60_000);

  it("does not count programs as checked whose packages cannot be fetched", () => {
    const map = new Map(
      Object.entries({ ...files, "Cargo.toml": "[dependencies]\nserde = '1'\n" }),
    );
    expect(coverageOf(map, rustCheck()).unchecked).toContain("src/one.rs");
  });
});

describe("goCheck with a stand-in for the go command", () => {
  const folder = mkdtempSync(join(tmpdir(), "stand-in-go-"));

  /**
   * Executables that print, in the format of Go, what it would say of these files: Go is not
   * installed here.
   */
  function recordGo(): void {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    const go = `#!/bin/sh
case "$*" in
  "env GOROOT") echo ${folder} ;;
  "vet ./...") test "$GOPROXY $GOFLAGS" = "off -mod=readonly" ;;
  "test ./...") cat <<'EOF'
--- FAIL: TestHalf (0.00s)
    half_test.go:7: got 1, want 2
--- FAIL: TestTwice (0.00s)
    --- FAIL: TestTwice/four (0.01s)
        twice_test.go:9: got 12, want 8
FAIL
FAIL	example.com/a/math	0.003s
ok  	example.com/a/other	0.002s
FAIL
EOF
  exit 1 ;;
  *) exit 9 ;;
esac
`;
    const gofmt = `#!/bin/sh
grep -q broken math/half.go || exit 0
echo "math/half.go:3:8: expected 'IDENT', found '{'" >&2
exit 2
`;
    writeFileSync(join(bin, "go"), go);
    writeFileSync(join(bin, "gofmt"), gofmt);
    for (const name of ["go", "gofmt"]) chmodSync(join(bin, name), 0o755);
    chmodSync(folder, 0o755);
    vi.stubEnv("PATH", `${bin}:/usr/bin:/bin`);
  }

  const files = {
    "go.mod": "module example.com/a\n",
    "math/half.go": "package math\n",
    "math/half_test.go": "package math\n",
    "math/twice.go": "package math\n",
    "math/twice_test.go": "package math\n",
  };

  it("reports each test that fails, and the file that it is named after", async () => {
    recordGo();
    const found = await faultsOf(goCheck(), files);
    expect(found.map(({ path, message }) => [path, message])).toEqual([
      ["math/half.go", 'test "TestHalf" failed: half_test.go:7: got 1, want 2'],
      ["math/twice.go", 'test "TestTwice/four" failed: twice_test.go:9: got 12, want 8'],
    ]);
    const wrong = { ...files, "math/half.go": "package math // broken\n" };
    expect(await faultsOf(goCheck(), wrong)).toMatchObject([{ path: "math/half.go", line: 3 }]);
    rmSync(folder, { recursive: true });
  });
});

describe("shellCheck", () => {
  it("parses each script by the shell of its first line", async () => {
    const found = await faultsOf([shellCheck()], {
      "a.sh": "#!/bin/sh\nif true; then\n  echo a\n",
      "b.sh": "#!/usr/bin/env bash\na=(1 2)\n",
      "a b.sh": "echo )\n",
      "c.sh": "#!/bin/zsh\nrepeat 3 { echo )\n",
    });
    expect(found.map(({ path, line }) => [path, line])).toEqual([
      ["a.sh", expect.any(Number)],
      ["a b.sh", 1],
    ]);
  });
});
