import { expect, it, vi } from "vitest";
import { makeProject, runVerify } from "./project.ts";

// Each runs a verification or more, and other tests may need the processors.
vi.setConfig({ testTimeout: 180_000 });

const wrong = "export const options = {};\n";
const broken = 'import "not-installed-anywhere";\nexport default {};\n';

it("fetchwork verify passes what verify.config.ts exports, from a folder inside of the project", async () => {
  const config = `import { invariant } from "@fetchwork/verify";
import { note } from "./src/api/note.ts";
export default { invariants: [invariant("stock is never positive", note, ({ stock }) => stock <= 0)] };
`;
  const folder = await makeProject({ "verify.config.ts": config });
  const { code, stderr, stdout } = await runVerify([], `${folder}/src`);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain("invariant-broken");
  expect((await runVerify([], await makeProject())).stdout).not.toContain("invariant-broken");
});

it.each([
  ["without a default export", wrong, "verify.config.ts must export options as default"],
  ["with an unknown option", "export default { invariant: [] };\n", '"invariant"'],
  ["that cannot be loaded", broken, "it imports not-installed-anywhere"],
])("fetchwork verify refuses a verify.config.ts %s", async (_name, text, message) => {
  const folder = await makeProject({ "verify.config.ts": text });
  const { code, stderr, stdout } = await runVerify([], folder);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(message);
});
