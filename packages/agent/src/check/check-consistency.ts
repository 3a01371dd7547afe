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
 * there and exports what it owes.
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
    ...(plan === undefined ? [] : checkContract(plan, project, lookup)),
  ];
  const lines = found.map((one) => ({ ...one, message: asLine(one.message) }));
  return lines.toSorted(
    (left, right) => compare(left.path, right.path) || (left.line ?? 0) - (right.line ?? 0),
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What the plan promises: every file, and of modules every exported name that could be one. */
function checkContract(
  plan: Pick<ProjectPlan, "files">,
  project: ProjectFiles,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  return plan.files.flatMap(({ path, exports }): readonly Diagnostic[] => {
    const place = { path, code: "broken-contract" } as const;
    if (!project.paths.has(path)) {
      return [
        {
          ...place,
          code: "missing-file",
          message: "it is planned and does not exist",
          severity: "error",
        },
      ];
    }
    const script = project.modules.get(path);
    if (script === undefined) return [];
    // A script of a page exports nothing; what the plan calls an export is global there.
    const isModule = script.facts.usesEsm || script.facts.usesCjs !== undefined;
    return exports.flatMap((named): readonly Diagnostic[] => {
      const name = /^[\w$]+$/.exec(named)?.[0];
      if (name === undefined) return [];
      const has = isModule
        ? lookup.exports(script, name) !== false
        : script.facts.declared.has(name) || exports.length === 0;
      if (has) return [];
      const message = `the plan says that it exports ${name}, and it does not`;
      // A plan does not decide: only where another file misses the name is it an error, and that is
      // said there.
      return [{ ...place, message, severity: "warning" }];
    });
  });
}
