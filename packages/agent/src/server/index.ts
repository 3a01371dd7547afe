export { codeTasks, type CodeTasksOptions } from "./code-tasks.ts";
export type { GuardOptions } from "./guard.ts";
export type { Pagination } from "./paging.ts";
export { serveTasks, type ServeTasksOptions } from "./serve-tasks.ts";
export {
  defineAgent,
  TaskInputError,
  type AgentTask,
  type JsonObject,
  type NewStep,
  type RunningStep,
  type StepResult,
  type TaskAgent,
  type TaskFile,
} from "./task-agent.ts";
export { createTaskHandler, type TaskHandler, type TaskHandlerOptions } from "./task-handler.ts";
export { taskCollections } from "./task-records.ts";
export type { VerifyLevel } from "./task-wishes.ts";
export type { Artifact, Step, Task, TaskState } from "./wire.ts";
