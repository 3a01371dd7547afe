import { openedFix, type Fault } from "./faults.ts";

/**
 * Writes faults as a log of SARIF 2.1.0, which GitHub and other tools for code scanning read.
 *
 * @param fixes - What helps against each code of findings.
 */
export function sarifOf(faults: readonly Fault[], fixes: Readonly<Record<string, string>>): string {
  const all = { ...fixes, opened: openedFix };
  const rules = Object.entries(all).map(([id, text]) => ({
    id,
    shortDescription: { text: id.replaceAll("-", " ") },
    help: { text },
    defaultConfiguration: { level: "error" },
  }));
  const results = faults.map(({ code, file, fix, key, line, message, subject }) => ({
    ruleId: code,
    ruleIndex: rules.findIndex(({ id }) => id === code),
    level: "error",
    message: { text: `${subject}: ${message}. ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(file), uriBaseId: "%SRCROOT%" },
          region: { startLine: line },
        },
      },
    ],
    partialFingerprints: { "fetchworkVerify/v1": key },
  }));
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "fetchwork verify", rules } }, results }],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}
