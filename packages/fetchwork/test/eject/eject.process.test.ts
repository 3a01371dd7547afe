import { expect, it } from "vitest";
import { fetchwork, program, project } from "../new/project-world.ts";

it.each([
  ["an array", [], ["note", "text:string!:search,sort,filter", "stars:integer:filter"]],
  [
    "rows",
    ["--list", "rows"],
    ["note", "text:string!:search,unique", "--admin", "create,update,remove"],
  ],
  ["no users", ["--auth", "none"], ["note", "text:string!:search"]],
  ["relations", [], ["note", "text:string!:search", "parent:ref(note)", "by:ref(user)"]],
  ["a trash", [], ["note", "text:string!:search,sort", "--soft-delete"]],
])(
  "handlers that are written out pass the tests of the resource (%s)",
  { timeout: 240_000 },
  async (_, options, words) => {
    const folder = await project(...options);
    await fetchwork(folder, "add", ...words);
    expect(await fetchwork(folder, "eject", "note")).toMatchObject({ code: 0 });
    const node = process.execPath;
    const typed = await program(folder, [node, "node_modules/typescript/bin/tsc"]);
    expect(typed).toEqual({ code: 0, output: "" });
    const vitest = [node, "node_modules/vitest/vitest.mjs", "run", "src/api/note"];
    expect(await program(folder, vitest)).toMatchObject({ code: 0 });
  },
);
