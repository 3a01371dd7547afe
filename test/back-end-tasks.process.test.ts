import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backEndTasks } from "../scripts/agent-live/back-end/back-end-tasks.ts";
import { checkProject } from "../scripts/agent-live/back-end/check-project.ts";
import {
  startProject,
  withIndex,
  type Files,
} from "../scripts/agent-live/back-end/start-project.ts";
import { accessSolutions } from "./back-end-tasks/access-solutions.ts";
import { dataSolutions } from "./back-end-tasks/data-solutions.ts";
import { eventSolutions } from "./back-end-tasks/event-solutions.ts";
import { inputSolutions } from "./back-end-tasks/input-solutions.ts";
import { raceSolutions } from "./back-end-tasks/race-solutions.ts";
import type { Mistake, Solutions } from "./back-end-tasks/solution.ts";

const root = join(import.meta.dirname, "..");
const solutions: Solutions = {
  ...accessSolutions,
  ...raceSolutions,
  ...inputSolutions,
  ...eventSolutions,
  ...dataSolutions,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "back-end-tasks-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a project with the packages of this repository. */
async function written(files: Files): Promise<string> {
  const project = await mkdtemp(join(folder, "project-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  return project;
}

function spoiled(files: Files, mistakes: readonly Mistake[]): Files {
  const changed = new Map(Object.entries(files));
  for (const { path, search, replace } of mistakes) {
    const text = changed.get(path) ?? "";
    expect(text).toContain(search ?? "");
    if (replace === undefined) changed.delete(path);
    else changed.set(path, search === undefined ? replace : text.replace(search, () => replace));
  }
  return Object.fromEntries(changed);
}

it("twenty tasks have a solution and a mistake each", () => {
  expect(backEndTasks).toHaveLength(20);
  expect(Object.keys(solutions)).toEqual(backEndTasks.map(({ name }) => name));
  for (const { wrong } of Object.values(solutions)) expect(Object.keys(wrong)).not.toEqual([]);
});

describe.each(backEndTasks)("the hidden check of $name", (task) => {
  const { right = {}, wrong = {} } = solutions[task.name] ?? {};

  it("refuses the project as it is at first", async () => {
    const project = await written(await startProject(task.files));
    await expect(checkProject(task, project)).rejects.toMatchObject({ code: "ERR_ASSERTION" });
  });

  it("passes a correct solution", async () => {
    const project = await written(withIndex({ ...(await startProject(task.files)), ...right }));
    await checkProject(task, project);
  });

  it.each(Object.entries(wrong))("refuses a solution in which %s", async (_, mistakes) => {
    const start = { ...(await startProject(task.files)), ...right };
    const project = await written(withIndex(spoiled(start, mistakes)));
    // An assertion of the check, and not a project that does not start.
    await expect(checkProject(task, project)).rejects.toMatchObject({ code: "ERR_ASSERTION" });
  });
});
