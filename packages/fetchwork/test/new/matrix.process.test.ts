import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { noPostgres, startPostgres } from "../../../documents/test/postgres-server.ts";
import { namesOf } from "../../src/add/resource-names.ts";
import { fetchwork, program, project, sharedModules } from "./project-world.ts";

const note = ["note", "text:string!:search,sort"];
/** Their names are those of variables in tests, and `class` is not one. */
const oddNames = [
  ["path", "class:string!:search"],
  ["step", "path:ref(path)!:filter", "number:integer!:sort,filter"],
];
const ofMaster = ["--master", "create,update,remove"];
const everyType = [
  "thing",
  "title:string(80)!:search,sort,filter",
  "body:text?:search",
  "price:number!:sort,filter",
  "stars:integer:index,filter",
  "sold:boolean:filter",
  "day:date?:sort",
  "at:datetime:sort",
  "mail:email!:unique",
  "site:url?",
  "state:enum(draft|published)!:filter",
  "tags:string[]:filter",
  "sizes:integer[]?",
  "published_at:datetime?:sort,filter",
  "page_count:integer!:filter",
];

/** Options of `new`, and the words of each `add`. */
const combinations: readonly { readonly options: string; readonly adds: readonly string[][] }[] = [
  { options: "", adds: [note, everyType, ...oddNames] },
  { options: "--auth none", adds: [note, [...everyType, "--list", "rows"]] },
  { options: "--auth none --list rows", adds: [[...note, ...ofMaster, "--soft-delete"]] },
  { options: "--auth none --db postgres --port 8080", adds: [note] },
  {
    options: "--list rows",
    adds: [
      everyType,
      ["news", "title:string!", "--path", "/news", "--admin", "create,update,remove"],
    ],
  },
  { options: "--webhooks", adds: [note] },
  {
    options: "--password-resets",
    adds: [
      [...note, "--soft-delete"],
      ["letter", "text:string", "--soft-delete", "--master", "list,show,create,update,remove"],
    ],
  },
  {
    options: "--password-resets --webhooks --list rows",
    adds: [note, [...everyType, "--owner-field", "seller"]],
  },
  {
    options: "--db postgres",
    adds: [["blogPost", "title:string!", "--user", "list,show,create"]],
  },
  {
    options: "--webhooks --list rows",
    adds: [note, ["diary", "day:date!", "--admin", "list", "--owner", "show,update,remove"]],
  },
  {
    options: "--password-resets --webhooks",
    adds: [note, ["comment", "note:ref(note)!:filter", "parent:ref(comment)", "by:ref(user)"]],
  },
  { options: "--db postgres --webhooks --password-resets", adds: [note] },
  { options: "--sign-up public", adds: [note] },
];

describe("a new project", () => {
  // Packing and installing are no part of the first one's time.
  beforeAll(() => sharedModules(), 300_000);

  it.each(combinations)(
    "of $options is typed, passes its tests and starts",
    { timeout: 480_000 },
    async ({ options, adds }) => {
      const folder = await project(...options.split(" ").filter(Boolean));
      for (const words of adds) {
        expect(await fetchwork(folder, "add", ...words)).toMatchObject({ code: 0, stderr: "" });
      }
      await writeFile(join(folder, "src/typed-client.ts"), typedClient(adds));
      const node = process.execPath;
      expect(await program(folder, [node, "node_modules/typescript/bin/tsc"])).toEqual({
        code: 0,
        output: "",
      });
      const env: NodeJS.ProcessEnv = {
        IP: "127.0.0.1",
        PORT: "0",
        DATABASE_URL: "sqlite::memory:",
      };
      const database: NodeJS.ProcessEnv = {};
      const vitest = [node, "node_modules/vitest/vitest.mjs", "run", "--reporter=dot"];
      if (options.includes("postgres") && noPostgres === undefined) {
        const server = await startPostgres();
        onTestFinished(() => server.stop());
        env["DATABASE_URL"] = await server.create();
        database["TEST_DATABASE_URL"] = await server.create();
        // One file after the other, since they share the database.
        vitest.push("--no-file-parallelism");
      }
      const tested = await program(folder, vitest, database);
      if (tested.code !== 0) console.error(tested.output);
      expect(tested.code).toBe(0);
      const document = await startAndAsk(folder, env);
      const paths = Object.keys(document.paths);
      for (const [name = ""] of adds) {
        const operations = JSON.stringify(document);
        expect(operations).toContain(`"create${name.charAt(0).toUpperCase()}${name.slice(1)}"`);
      }
      expect(paths.includes("/users")).toBe(!options.includes("none"));
      expect(paths.includes("/password-resets")).toBe(!options.includes("none"));
      expect(paths.includes("/webhooks")).toBe(options.includes("webhooks"));
    },
  );

  it("covers at least twelve combinations", () => {
    expect(combinations.length).toBeGreaterThanOrEqual(12);
  });
});

/**
 * A module that has the types of a client of the resources: with routes that lack them it does not
 * compile.
 */
function typedClient(adds: readonly string[][]): string {
  const lists = adds.map((words) => {
    const at = words.indexOf("--path");
    const { path } = namesOf(words[0] ?? "", at === -1 ? undefined : words[at + 1]);
    const name = path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return `  client.${name}.list({ limit: 1 }),\n`;
  });
  return `import { createClient } from "@fetchwork/rest/client";
import type { app } from "./app.ts";

export const client = createClient<typeof app>({ baseUrl: "http://localhost:9000" });
export const lists = () => [
${lists.join("")}];
`;
}

/** Starts a project, asks it for its reference, and stops it. */
async function startAndAsk(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly paths: Readonly<Record<string, unknown>> }> {
  const child = spawn(process.execPath, ["src/index.ts"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let origin: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (origin !== undefined) break;
  }
  const response = await fetch(`${origin}/openapi.json`);
  const document = (await response.json()) as Awaited<ReturnType<typeof startAndAsk>>;
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number | null];
  expect([response.status, code]).toEqual([200, 0]);
  return document;
}
