import type { Diagnostic } from "./diagnostic.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { CallFact } from "./module-facts.ts";

/** Functions without a declaration: of the language, browsers, Node, workers, test runners. */
const globals: ReadonlySet<string> = new Set(
  "alert atob btoa cancelAnimationFrame cancelIdleCallback clearImmediate clearInterval clearTimeout close confirm createImageBitmap decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval fetch find focus getComputedStyle getSelection importScripts isFinite isNaN matchMedia moveBy moveTo open parseFloat parseInt postMessage print prompt queueMicrotask removeEventListener addEventListener dispatchEvent reportError requestAnimationFrame requestIdleCallback require resizeBy resizeTo scroll scrollBy scrollTo setImmediate setInterval setTimeout stop structuredClone unescape describe it test expect before after beforeEach afterEach beforeAll afterAll suite context specify setup teardown suiteSetup suiteTeardown xit xdescribe xtest fit fdescribe define super import assert defineProps defineEmits skipWaiting registerProcessor registerPaint".split(
    " ",
  ),
);

/** Functions that nobody declares. */
export function checkCalls(project: ProjectFiles): readonly Diagnostic[] {
  const reachable = sharedNames(project);
  const declaredInProject = new Map<string, string>();
  for (const { facts, path } of project.scripts) {
    for (const name of facts.topLevel) {
      if (!declaredInProject.has(name)) declaredInProject.set(name, path);
    }
  }
  return project.scripts.flatMap((script) => {
    const reported = new Set<string>();
    return script.facts.calls.flatMap((call): readonly Diagnostic[] => {
      const fault = undeclared(script, call, reachable, declaredInProject);
      if (fault === undefined || reported.has(call.name)) return [];
      reported.add(call.name);
      const line = call.line + script.offset;
      return [{ ...fault, path: script.path, line, code: "undeclared-name", severity: "error" }];
    });
  });
}

/** Names that each script sees of others: declarations of classic scripts. `undefined`: any. */
function sharedNames(project: ProjectFiles): ReadonlySet<string> | undefined {
  // Nothing is known of scripts that were not read.
  if (!project.isWhole) return undefined;
  const elsewhere = [...project.pages.values()].some((page) =>
    page.references.some(({ from, url }) => from === "script" && /^(?:https?:)?\/\//.test(url)),
  );
  // Types may declare globals that nobody sees.
  const declares = [...project.paths].some((path) => path.endsWith(".d.ts"));
  if (elsewhere || declares) return undefined;
  const shared = project.scripts.filter(isClassic).flatMap(({ facts }) => [...facts.topLevel]);
  const assigned = project.scripts.flatMap(({ facts }) => [...facts.globals]);
  return new Set([...shared, ...assigned]);
}

function undeclared(
  { facts, path }: ProjectScript,
  { name, isNew }: CallFact,
  reachable: ReadonlySet<string> | undefined,
  inProject: ReadonlyMap<string, string>,
): Pick<Diagnostic, "message" | "related"> | undefined {
  if (facts.declared.has(name) || reachable?.has(name) === true || globals.has(name))
    return undefined;
  if (name in globalThis) return undefined;
  const owner = inProject.get(name);
  if (owner !== undefined && owner !== path) {
    const message = `it uses ${name}, which ${owner} declares, without importing it`;
    return { message, related: owner };
  }
  // A class that is not of the project may be one of the platform's many.
  if (isNew || /^[A-Z_$]/.test(name) || reachable === undefined) return undefined;
  return { message: `it calls ${name}, which is declared nowhere` };
}

function isClassic({ facts, inline }: ProjectScript): boolean {
  const isPlain = !facts.usesEsm && facts.usesCjs === undefined;
  return inline === "script" || (inline === undefined && isPlain);
}
