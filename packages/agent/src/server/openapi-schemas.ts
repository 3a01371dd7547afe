import { largestPage } from "./paging.ts";
import type { JsonObject } from "./task-agent.ts";

/** A schema that may be null. */
export function nullable(type: string): JsonObject {
  return { type: [type, "null"] };
}

/** Names a schema of {@link openApiSchemas}. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** What requests and answers of the task API are made of. */
export const openApiSchemas: JsonObject = {
  TaskRequestBody: {
    type: "object",
    properties: {
      input: { ...nullable("string"), description: "What is to be programmed; not blank." },
      additional_input: {
        type: "object",
        description:
          "`model`, `concurrency`, `verify`, `repair`, `max_cost`, `max_tokens` and `run` are known; everything is given back as it came.",
      },
    },
  },
  StepRequestBody: {
    type: "object",
    properties: { input: nullable("string"), additional_input: { type: "object" } },
  },
  Task: {
    type: "object",
    required: ["task_id", "input", "additional_input", "artifacts", "state"],
    properties: {
      task_id: { type: "string", format: "uuid" },
      input: { type: "string" },
      additional_input: { type: "object" },
      artifacts: { type: "array", items: schemaRef("Artifact") },
      state: {
        type: "string",
        enum: ["submitted", "working", "completed", "failed", "canceled"],
      },
      automatic: { type: "boolean", description: "Whether a server runs the steps by itself." },
      steps: {
        type: "object",
        required: ["total", "open"],
        properties: {
          total: { type: "integer", minimum: 0 },
          open: { type: "integer", minimum: 0 },
        },
      },
      usage: schemaRef("Usage"),
      last_error: nullable("object"),
      created_at: { type: "string", format: "date-time" },
    },
  },
  Usage: {
    type: "object",
    required: ["inputTokens", "outputTokens", "cost", "calls"],
    properties: {
      inputTokens: { type: "integer", minimum: 0 },
      outputTokens: { type: "integer", minimum: 0 },
      cost: { ...nullable("number"), description: "US dollars; null when a price is not known." },
      calls: { type: "integer", minimum: 0 },
    },
  },
  Step: {
    type: "object",
    required: ["task_id", "step_id", "status", "artifacts", "is_last"],
    properties: {
      task_id: { type: "string", format: "uuid" },
      step_id: { type: "string", format: "uuid" },
      name: nullable("string"),
      status: { type: "string", enum: ["created", "running", "completed"] },
      input: nullable("string"),
      additional_input: { type: "object" },
      output: nullable("string"),
      additional_output: nullable("object"),
      artifacts: { type: "array", items: schemaRef("Artifact") },
      is_last: { type: "boolean" },
    },
  },
  Artifact: {
    type: "object",
    required: ["artifact_id", "agent_created", "file_name"],
    properties: {
      artifact_id: { type: "string", format: "uuid" },
      agent_created: { type: "boolean" },
      file_name: { type: "string" },
      relative_path: nullable("string"),
      size: { type: "integer", minimum: 0 },
      versions: { type: "integer", minimum: 1 },
      created_at: { type: "string", format: "date-time" },
    },
  },
  Pagination: {
    type: "object",
    required: ["total_items", "total_pages", "current_page", "page_size"],
    properties: {
      total_items: { type: "integer", minimum: 0 },
      total_pages: { type: "integer", minimum: 0 },
      current_page: { type: "integer", minimum: 1 },
      page_size: { type: "integer", minimum: 1, maximum: largestPage },
    },
  },
  Failure: {
    type: "object",
    required: ["message"],
    properties: {
      message: { type: "string" },
      code: { type: "string" },
      retryable: { type: "boolean" },
    },
  },
};
