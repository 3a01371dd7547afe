import { isScript } from "./parse-script.ts";
import { isYaml } from "./parse-yaml.ts";
import { readProject, type SyntaxFault } from "./project-files.ts";

/** Whether {@link findSyntaxErrors} can find faults in a file. */
export function canFindSyntaxErrors(path: string, source: string): boolean {
  return (
    isScript(path) || isYaml(path, source) || /\.(?:json|jsonc|webmanifest|css|html?)$/i.test(path)
  );
}

/** Parses JavaScript, TypeScript, JSON, YAML, CSS and HTML. Other files have no faults. */
export async function findSyntaxErrors(
  path: string,
  source: string,
): Promise<readonly SyntaxFault[]> {
  const { faults } = await readProject(new Map([[path, source]]));
  return faults.map(({ line, message }) => ({ line, message }));
}
