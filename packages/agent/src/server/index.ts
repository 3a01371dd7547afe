export { codeTasks, type CodeTasksOptions } from "./code-tasks.ts";
export { serveTasks, type ServeTasksOptions } from "./serve-tasks.ts";
export {
  defineAgent,
  TaskInputError,
  type AgentTask,
  type RunningStep,
  type TaskAgent,
} from "./task-agent.ts";
export { createTaskHandler, type TaskHandler, type TaskHandlerOptions } from "./task-handler.ts";
export { taskCollections } from "./task-records.ts";
export type { VerifyLevel } from "./task-options.ts";
export type { Artifact, Step, Task } from "./wire.ts";
