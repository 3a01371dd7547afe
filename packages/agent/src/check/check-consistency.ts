import { asLine } from "../errors.ts";
import type { ProjectPlan } from "../project/project-plan.ts";
import { checkCalls } from "./check-calls.ts";
import { checkImports } from "./check-imports.ts";
import { checkPages } from "./check-pages.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { ExportLookup } from "./export-lookup.ts";
import { readProject, type ProjectFiles } from "./project-files.ts";
import { ProjectManifests } from "./project-manifests.ts";

/**
 * Checks how the files of a project fit together, without running any: JavaScript and TypeScript
 * (ES modules, CommonJS and classic scripts), pages, style sheets, JSON and package.json. It says
 * only what is certain; other languages are not looked at. With a plan, also whether each file is
 * there.
 *
 * @param only the scripts in which faults are looked for. Default: all files
 */
export async function checkConsistency(
  files: ReadonlyMap<string, string>,
  plan?: Pick<ProjectPlan, "files">,
  only?: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const project = await readProject(files, only);
  const manifests = new ProjectManifests(project);
  const lookup = new ExportLookup(project, manifests);
  const found: readonly Diagnostic[] = [
    ...project.faults.map((fault) => ({ ...fault, code: "syntax", severity: "error" }) as const),
    ...checkImports(project, manifests, lookup),
    ...checkCalls(project),
    ...checkPages(project, manifests, lookup),
    ...(plan === undefined ? [] : checkContract(plan, project)),
  ];
  const lines = found.map((one) => ({ ...one, message: asLine(one.message) }));
  return lines.toSorted(
    (left, right) => compare(left.path, right.path) || (left.line ?? 0) - (right.line ?? 0),
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The files of the plan that are not there. */
function checkContract(
  plan: Pick<ProjectPlan, "files">,
  project: ProjectFiles,
): readonly Diagnostic[] {
  const missing = plan.files.filter(({ path }) => !project.paths.has(path));
  return missing.map(({ path }) => ({
    path,
    code: "missing-file",
    message: "it is planned and does not exist",
    severity: "error",
  }));
}
