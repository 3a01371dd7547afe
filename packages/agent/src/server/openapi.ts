import type { JsonObject } from "./task-agent.ts";
import { answer, openApiResponses } from "./openapi-responses.ts";
import { openApiSchemas, schemaRef } from "./openapi-schemas.ts";
import { largestPage } from "./paging.ts";

const body = (name: string): JsonObject => ({
  required: false,
  content: { "application/json": { schema: schemaRef(name) } },
});
const failure = (name: string): JsonObject => ({ $ref: `#/components/responses/${name}` });
const parameter = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` });
const paging = [parameter("currentPage"), parameter("pageSize")];
const list = (name: string, of: string): JsonObject => ({
  type: "object",
  required: [name, "pagination"],
  properties: {
    [name]: { type: "array", items: schemaRef(of) },
    pagination: schemaRef("Pagination"),
  },
});
const common = {
  "401": failure("Unauthorized"),
  "403": failure("Forbidden"),
  "421": failure("Misdirected"),
  "500": failure("Failed"),
};
const found = { ...common, "404": failure("NotFound") };
const key: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  description: "A repetition of the request with the same key gets the answer of the first.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
const keyFailures = {
  "400": failure("WrongKey"),
  "409": failure("KeyInUse"),
  "503": failure("KeysUnavailable"),
};
const stepFailures = {
  "402": failure("StepFailed"),
  "409": failure("StepFailed"),
  "429": failure("StepFailed"),
  "500": failure("StepFailed"),
  "502": failure("StepFailed"),
  "503": failure("StepFailed"),
  "504": failure("StepFailed"),
};

const paths: JsonObject = {
  "/agent/tasks": {
    post: {
      operationId: "createAgentTask",
      summary: "Creates a task",
      parameters: [key],
      requestBody: body("TaskRequestBody"),
      responses: {
        "200": answer("The task, with its first steps to be run.", schemaRef("Task")),
        ...common,
        ...keyFailures,
        "413": failure("TooLarge"),
        "415": failure("WrongType"),
        "422": failure("Invalid"),
      },
    },
    get: {
      operationId: "listAgentTasks",
      summary: "Lists tasks, the oldest first",
      parameters: paging,
      responses: {
        "200": answer("A page of tasks.", list("tasks", "Task")),
        ...common,
        "422": failure("Invalid"),
      },
    },
  },
  "/agent/tasks/{task_id}": {
    parameters: [parameter("taskId")],
    get: {
      operationId: "getAgentTask",
      summary: "Gets a task",
      responses: { "200": answer("The task.", schemaRef("Task")), ...found },
    },
    delete: {
      operationId: "deleteAgentTask",
      summary: "Deletes a task with its steps and files; running steps end",
      responses: { "204": { description: "It is gone." }, ...found },
    },
  },
  "/agent/tasks/{task_id}/steps": {
    parameters: [parameter("taskId")],
    get: {
      operationId: "listAgentTaskSteps",
      summary: "Lists the steps that are known, in their order",
      parameters: paging,
      responses: {
        "200": answer("A page of steps.", list("steps", "Step")),
        ...found,
        "422": failure("Invalid"),
      },
    },
    post: {
      operationId: "executeAgentTaskStep",
      summary: "Runs the next step and answers when it is done",
      description:
        "Needs no body. Several requests at once run several steps, where they do not wait for each other. After the last step it answers with that step again and runs nothing, unless `additional_input.continue` is true: then `input` says what is to be changed.",
      parameters: [key],
      requestBody: body("StepRequestBody"),
      responses: {
        "200": answer("The step that was run.", schemaRef("Step")),
        ...found,
        "413": failure("TooLarge"),
        "415": failure("WrongType"),
        "422": failure("Invalid"),
        "400": failure("WrongKey"),
        ...stepFailures,
      },
    },
  },
  "/agent/tasks/{task_id}/steps/{step_id}": {
    parameters: [parameter("taskId"), parameter("stepId")],
    get: {
      operationId: "getAgentTaskStep",
      summary: "Gets a step",
      responses: { "200": answer("The step.", schemaRef("Step")), ...found },
    },
  },
  "/agent/tasks/{task_id}/artifacts": {
    parameters: [parameter("taskId")],
    get: {
      operationId: "listAgentTaskArtifacts",
      summary: "Lists the files of a task",
      parameters: paging,
      responses: {
        "200": answer("A page of files.", list("artifacts", "Artifact")),
        ...found,
        "422": failure("Invalid"),
      },
    },
    post: {
      operationId: "uploadAgentTaskArtifacts",
      summary: "Uploads a file; one of the same path becomes an older version",
      requestBody: {
        required: true,
        content: {
          "multipart/form-data": {
            schema: {
              type: "object",
              required: ["file"],
              properties: {
                file: { type: "string", format: "binary" },
                relative_path: {
                  type: "string",
                  description: "The folder of the file inside of the task.",
                },
              },
            },
          },
        },
      },
      responses: {
        "200": answer("The file.", schemaRef("Artifact")),
        ...found,
        "413": failure("TooLarge"),
        "415": failure("WrongType"),
        "422": failure("Invalid"),
      },
    },
  },
  "/agent/tasks/{task_id}/artifacts/{artifact_id}": {
    parameters: [parameter("taskId"), parameter("artifactId")],
    get: {
      operationId: "downloadAgentTaskArtifact",
      summary: "Downloads a file",
      parameters: [
        {
          name: "version",
          in: "query",
          description: "Which version, from 1 on. Default: the newest.",
          schema: { type: "integer", minimum: 1 },
        },
      ],
      responses: {
        "200": {
          description: "Its bytes.",
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
        ...found,
        "422": failure("Invalid"),
      },
    },
  },
  "/agent/tasks/{task_id}/events": {
    parameters: [parameter("taskId")],
    get: {
      operationId: "watchAgentTask",
      summary: "Tells what happens to a task, as server-sent events, until it ends",
      parameters: [
        {
          name: "Last-Event-ID",
          in: "header",
          description: "Number of the last event that is known. Default: 0, for all.",
          schema: { type: "string" },
        },
      ],
      responses: {
        "200": {
          description: "Events.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "204": { description: "The task has ended, and all its events are known." },
        ...found,
        "422": failure("Invalid"),
      },
    },
  },
  "/agent/tasks/{task_id}/run": {
    parameters: [parameter("taskId")],
    post: {
      operationId: "runAgentTask",
      summary: "Lets the server run all steps that are left, and answers at once",
      responses: {
        "200": answer("The task.", schemaRef("Task")),
        ...found,
        "409": failure("StepFailed"),
      },
    },
  },
  "/agent/tasks/{task_id}/cancel": {
    parameters: [parameter("taskId")],
    post: {
      operationId: "cancelAgentTask",
      summary: "Ends a task; a completed one stays completed",
      responses: { "200": answer("The task.", schemaRef("Task")), ...found },
    },
  },
  "/agent/tasks/{task_id}/archive": {
    parameters: [parameter("taskId")],
    get: {
      operationId: "archiveAgentTask",
      summary: "Downloads all files of a task",
      responses: {
        "200": {
          description: "A tar archive.",
          content: { "application/x-tar": { schema: { type: "string", format: "binary" } } },
        },
        ...found,
      },
    },
  },
};

const idParameter = (name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string" },
});
const pageParameter = (name: string, fallback: number, description: string): JsonObject => ({
  name,
  in: "query",
  description,
  schema: { type: "integer", format: "int32", minimum: 1, default: fallback },
});

/** The task API in OpenAPI 3.1. Both prefixes are its servers. */
export const taskApiDocument: JsonObject = {
  openapi: "3.1.0",
  info: {
    title: "Fetchwork agent",
    version: "1",
    description:
      "Writes whole programs, step by step. The first nine operations are those of the Agent Protocol, version 1.",
  },
  servers: [{ url: "/" }, { url: "/ap/v1" }],
  security: [{}, { token: [] }],
  paths,
  components: {
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
    schemas: openApiSchemas,
    parameters: {
      taskId: idParameter("task_id"),
      stepId: idParameter("step_id"),
      artifactId: idParameter("artifact_id"),
      currentPage: pageParameter("current_page", 1, "From 1 on; a page beyond the end is empty."),
      pageSize: pageParameter(
        "page_size",
        10,
        `Entries of a page; never more than ${largestPage}, and the pagination says how many.`,
      ),
    },
    responses: openApiResponses,
  },
};
