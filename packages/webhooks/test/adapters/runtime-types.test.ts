import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../../..");
// In the package, so that its devDependencies are found wherever npm puts them.
const folder = join(import.meta.dirname, "../../node_modules/.cache/runtime-types");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const imports = `
import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
const receive = createWebMiddleware(new Webhooks({ secret: "s" }));
`;

const programs: readonly (readonly [string, string, object])[] = [
  [
    "Bun, by bun-types",
    `${imports}
     Bun.serve({ port: 0, fetch: receive });
     Bun.serve({ port: 0, routes: { "/hooks": receive, "/other": { POST: receive } } });
     export default { fetch: receive } satisfies Bun.Serve.Options<undefined>;`,
    { types: ["bun-types"], lib: ["ESNext"] },
  ],
  [
    "Workers, by @cloudflare/workers-types",
    `${imports}
     interface Env { readonly WEBHOOK_SECRET: string }
     export default { fetch: receive } satisfies ExportedHandler<Env>;
     const other = async (request: Request, env: Env, context: ExecutionContext): Promise<Response> => {
       context.waitUntil(Promise.resolve(request));
       return new Response(env.WEBHOOK_SECRET);
     };
     const both = createWebMiddleware(new Webhooks({ secret: "s" }), { fallback: other });
     export const worker: ExportedHandler<Env> = { fetch: both };`,
    { types: ["@cloudflare/workers-types"], lib: ["ESNext"] },
  ],
  [
    "Deno, by the shape of Deno.serve",
    `${imports}
     interface Info { readonly remoteAddr: { readonly hostname: string }; readonly completed: Promise<void> }
     type DenoHandler = (request: Request, info: Info) => Response | Promise<Response>;
     declare const Deno: {
       serve(handler: DenoHandler): unknown;
       serve(options: { readonly port?: number }, handler: DenoHandler): unknown;
     };
     Deno.serve(receive);
     Deno.serve({ port: 0 }, receive);
     export default { fetch: receive } satisfies { fetch: DenoHandler };`,
    { types: [], lib: ["ESNext", "DOM", "DOM.Iterable"] },
  ],
  [
    "Next.js, by the shape of its route handlers",
    `${imports}
     interface NextRequest extends Request { readonly nextUrl: URL }
     interface RouteContext { readonly params: Promise<{ readonly slug: string }> }
     type Handled = Response | void | Promise<Response | void>;
     interface Route { POST?: (request: NextRequest, context: RouteContext) => Handled }
     // What \`next build\` asks of the second parameter of an exported function.
     type SecondOf<T> = T extends (first: never, second: infer Second) => unknown ? Second : never;
     const POST = createWebMiddleware(new Webhooks({ secret: "s" }));
     export const second: SecondOf<typeof POST> = {} as RouteContext;
     declare function after(task: Promise<unknown> | (() => unknown)): void;
     export default [
       { POST },
       { POST: (request: NextRequest) => receive(request, { waitUntil: after }) },
     ] satisfies Route[];`,
    { types: [], lib: ["ESNext", "DOM", "DOM.Iterable"] },
  ],
];

it.each(programs)("The web middleware has the type of a handler of %s", (name, text, options) => {
  const project = join(folder, name.replaceAll(/\W+/g, "-"));
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "program.mts"), text);
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { ...options, checkJs: false },
    files: ["program.mts"],
    include: [],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(settings));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", "."], {
    cwd: project,
    encoding: "utf8",
  });
  // Users get declarations; our sources, which are checked elsewhere, need not be right by these
  // libraries.
  const faults = stdout.split("\n").filter((line) => line.startsWith("program.mts"));
  expect(faults).toEqual([]);
  expect(stdout).not.toMatch(/^error /m);
});
