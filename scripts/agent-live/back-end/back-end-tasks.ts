import { accessTasks } from "./access-tasks.ts";
import type { BackEndTask } from "./back-end-task.ts";
import { dataTasks } from "./data-tasks.ts";
import { eventTasks } from "./event-tasks.ts";
import { inputTasks } from "./input-tasks.ts";
import { raceTasks } from "./race-tasks.ts";
import { urlTasks } from "./url-tasks.ts";

/** Twenty small tasks of a back end: access rules, races, hostile input, events, and data. */
export const backEndTasks: readonly BackEndTask[] = [
  ...accessTasks,
  ...raceTasks,
  ...inputTasks,
  ...urlTasks,
  ...eventTasks,
  ...dataTasks,
];
