import { expect, it } from "vitest";
import { processorTime } from "../../kit/test/processor-time.ts";
import { checkConsistency } from "../src/check/check-consistency.ts";
import { findSyntaxErrors } from "../src/check/find-syntax-errors.ts";
import { coverageOf } from "../src/verify/coverage.ts";

const workflow = `on:
  push:
    branches: [main]
jobs:
  test:
    runs-on: \${{ matrix.os }}
    strategy:
      matrix: { os: [ubuntu-latest, macos-latest] }
    steps:
      - run: |
          echo "\${{ github.ref }}" # no comment
          echo "a: b: c"
      - if: \${{ always() }}
        uses: actions/checkout@v5
`;
const anchors = `x-base: &base { restart: always }
services:
  web:
    <<: *base
    image: !Ref Image
---
{"json": [1, 2,], "text": 'it''s'}
---
# nothing
`;

it.each([
  ["a key twice", "a: 1\nb: 2\na: 3\n", 3],
  ["a key twice in a later document", "a: 1\n---\nb:\n  c: 1\n  c: 2\n", 5],
  ["a list that is not closed", "a: 1\nb: [1, 2\nc: 3\n", 3],
  ["wrong indentation", "a:\n    b: 1\n  c: 2\n", 3],
  ["a tab as indentation", "a:\n\tb: 1\n", 2],
  ["a text that is not closed", 'a: "b\nc: 1\n', 3],
  ["two values in a line", "a: b: c\n", 1],
  ["prose before it", "Here is the file:\n\n```yaml\na: 1\n```\n", 3],
])("parseYaml finds %s", async (_, source, line) => {
  const [fault] = await findSyntaxErrors("settings.yaml", source);
  expect(fault?.message).toMatch(/^it is not YAML: \S/);
  expect(fault?.line).toBe(line);
});

it.each([
  ["a workflow of GitHub", workflow],
  ["anchors, tags, JSON and several documents", anchors],
  ["an empty file", ""],
  ["a template of Ansible, whose expressions are in quotes", 'name: "{{ user }}"\n'],
])("parseYaml finds nothing wrong with %s", async (_, source) => {
  const path = ".github/workflows/ci.yml";
  expect(await findSyntaxErrors(path, source)).toEqual([]);
  expect(coverageOf(new Map([[path, source]]))).toEqual({ checked: 1, unchecked: [] });
});

it.each([
  ["Helm", "{{- if .Values.on }}\na: {{ .Values.a }}\n{{- end }}\n"],
  ["Jinja", "{% for one in all %}\n- {{ one }}\n{% endfor %}\n"],
  ["ERB", "a: <%= ENV['A'] %>\n<% if b %>\nb: 1\n<% end %>\n"],
])("parseYaml does not check a template of %s, and says so", async (_, source) => {
  const files = new Map([["templates/service.yaml", source]]);
  expect(await checkConsistency(files)).toEqual([]);
  expect(coverageOf(files)).toEqual({ checked: 0, unchecked: ["templates/service.yaml"] });
});

it("a fault of YAML counts as an error of the program", async () => {
  const found = await checkConsistency(new Map([["docker-compose.yml", "a: 1\na: 2\n"]]));
  expect(found).toMatchObject([{ path: "docker-compose.yml", line: 2, severity: "error" }]);
});

it.each([
  ["a quote that has only escaped ones after it", `a: "${'\\"'.repeat(99_000)}\n`],
  ["a fault in each of very many documents", "--- @\n".repeat(33_000)],
])("parseYaml takes no longer for %s", { timeout: 20_000 }, async (_, source) => {
  const from = processorTime();
  await findSyntaxErrors("settings.yaml", source);
  expect(processorTime(from)).toBeLessThan(8_000);
});
