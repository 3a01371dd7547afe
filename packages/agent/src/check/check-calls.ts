import { quote } from "./check-imports.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { ExportLookup } from "./export-lookup.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { Arity, CallFact } from "./module-facts.ts";

/** Functions that are there without a declaration: of the language, browsers, Node, extensions, workers and test runners. */
const globals: ReadonlySet<string> = new Set(
  "alert atob btoa cancelAnimationFrame cancelIdleCallback clearImmediate clearInterval clearTimeout close confirm createImageBitmap decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval fetch find focus getComputedStyle getSelection importScripts isFinite isNaN matchMedia moveBy moveTo open parseFloat parseInt postMessage print prompt queueMicrotask removeEventListener addEventListener dispatchEvent reportError requestAnimationFrame requestIdleCallback require resizeBy resizeTo scroll scrollBy scrollTo setImmediate setInterval setTimeout stop structuredClone unescape describe it test expect before after beforeEach afterEach beforeAll afterAll suite context specify setup teardown suiteSetup suiteTeardown xit xdescribe xtest fit fdescribe define super import assert defineProps defineEmits skipWaiting registerProcessor registerPaint".split(
    " ",
  ),
);

/** Every plain object has these. */
const ofObjects: ReadonlySet<string> = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(
    " ",
  ),
);

/** Functions that nobody declares, methods that a class does not have, and numbers of arguments that cannot be right. */
export function checkCalls(project: ProjectFiles, lookup: ExportLookup): readonly Diagnostic[] {
  const reachable = sharedNames(project);
  const declaredInProject = new Map<string, string>();
  for (const { facts, path } of project.scripts) {
    for (const name of facts.topLevel.keys()) {
      if (!declaredInProject.has(name)) declaredInProject.set(name, path);
    }
  }
  const ofClasses = project.scripts.flatMap((script) => selfFaults(script));
  const ofCalls = project.scripts.flatMap((script) => {
    const reported = new Set<string>();
    return script.facts.calls.flatMap((call) => {
      const fault =
        call.method === undefined
          ? (undeclared(script, call, reachable, declaredInProject) ??
            arityFault(script, call, lookup))
          : methodFault(script, call, lookup);
      const key = `${fault?.code} ${call.name}.${call.method} ${call.count}`;
      if (fault === undefined || reported.has(key)) return [];
      reported.add(key);
      return [
        {
          severity: "error" as const,
          ...fault,
          path: script.path,
          line: call.line + script.offset,
        },
      ];
    });
  });
  return [...ofCalls, ...ofClasses];
}

/** `this.name()` in a class that extends none and has no such member. */
function selfFaults({ facts, path, offset }: ProjectScript): readonly Diagnostic[] {
  return [...facts.topLevel].flatMap(([className, { classFact }]) =>
    (classFact?.selfCalls ?? []).flatMap(({ name, line }) => {
      if (classFact === undefined || classFact.members.has(name) || ofObjects.has(name)) return [];
      const message = `it calls ${quote(`this.${name}`)}, but the class ${className} has no ${name}`;
      const place = { path, line: line + offset, code: "missing-method" as const };
      return [{ ...place, message, severity: "error" as const }];
    }),
  );
}

interface Fault extends Pick<Diagnostic, "code" | "message" | "related"> {
  readonly severity?: Diagnostic["severity"];
}

/** What each script sees of others: all that classic scripts declare at their top. `undefined`: anything, from elsewhere. */
function sharedNames(project: ProjectFiles): ReadonlySet<string> | undefined {
  const elsewhere = [...project.pages.values()].some((page) =>
    page.references.some(({ from, url }) => from === "script" && /^(?:https?:)?\/\//.test(url)),
  );
  // Types may declare globals that nobody sees.
  const declares = [...project.paths].some((path) => path.endsWith(".d.ts"));
  if (elsewhere || declares) return undefined;
  const shared = project.scripts
    .filter(isClassic)
    .flatMap(({ facts }) => [...facts.topLevel.keys()]);
  const assigned = project.scripts.flatMap(({ facts }) => [...facts.globals]);
  return new Set([...shared, ...assigned]);
}

function undeclared(
  { facts, path }: ProjectScript,
  { name, isNew }: CallFact,
  reachable: ReadonlySet<string> | undefined,
  inProject: ReadonlyMap<string, string>,
): Fault | undefined {
  if (facts.declared.has(name) || reachable?.has(name) === true || globals.has(name))
    return undefined;
  if (name in globalThis) return undefined;
  const owner = inProject.get(name);
  if (owner !== undefined && owner !== path) {
    const message = `it uses ${name}, which ${owner} declares, without importing it`;
    return { code: "undeclared-name", message, related: owner };
  }
  // A class that is not of the project may be one of the platform's many.
  if (isNew || /^[A-Z_$]/.test(name) || reachable === undefined) return undefined;
  return { code: "undeclared-name", message: `it calls ${name}, which is declared nowhere` };
}

function arityFault(
  script: ProjectScript,
  { name, count, isNew }: CallFact,
  lookup: ExportLookup,
): Fault | undefined {
  const declared = lookup.declared(script, name);
  if (declared?.arity === undefined || count === undefined) return undefined;
  return compare(isNew ? `new ${name}` : name, count, declared.arity);
}

function compare(name: string, count: number, { least, most }: Arity): Fault | undefined {
  if (count >= least && count <= most) return undefined;
  const takes =
    least === most ? String(most) : count < least ? `at least ${least}` : `at most ${most}`;
  const given = count === 1 ? "1 argument" : `${count} arguments`;
  // JavaScript drops what is too much; what is missing breaks the function.
  const severity = count < least ? "error" : "warning";
  return { code: "arity", severity, message: `it gives ${name} ${given}, and it takes ${takes}` };
}

function methodFault(
  script: ProjectScript,
  call: CallFact,
  lookup: ExportLookup,
): Fault | undefined {
  const { name, method = "", count } = call;
  if (script.facts.declared.get(name) !== 1) return undefined;
  const className = script.facts.instances.get(name);
  if (className === undefined) return undefined;
  const fact = lookup.declared(script, className)?.classFact;
  if (fact === undefined) return undefined;
  const related = lookup.resolve(
    script,
    script.facts.importedAs.get(className)?.specifier ?? "",
    "require",
  );
  if (!fact.members.has(method) && !ofObjects.has(method)) {
    const fault = {
      code: "missing-method" as const,
      message: `it calls ${quote(`${name}.${method}`)}, but the class ${className} has no ${method}`,
    };
    return related.kind === "file" ? { ...fault, related: related.path } : fault;
  }
  const arity = fact.methods.get(method);
  return arity === undefined || count === undefined
    ? undefined
    : compare(`${name}.${method}`, count, arity);
}

function isClassic({ facts, inline }: ProjectScript): boolean {
  const isPlain = !facts.usesEsm && facts.usesCjs === undefined;
  return inline === "script" || (inline === undefined && isPlain);
}
