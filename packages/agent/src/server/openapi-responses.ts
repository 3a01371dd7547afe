import { schemaRef } from "./openapi-schemas.ts";
import type { JsonObject } from "./task-agent.ts";

/** An answer in JSON. */
export function answer(description: string, schema: JsonObject): JsonObject {
  return { description, content: { "application/json": { schema } } };
}

/** Answers that several operations share. */
export const openApiResponses: JsonObject = {
  Unauthorized: answer("The token is missing or wrong.", schemaRef("Failure")),
  Forbidden: answer("A page of another origin asks.", schemaRef("Failure")),
  Misdirected: answer("The server is not known by that name.", schemaRef("Failure")),
  Failed: answer("The server failed.", schemaRef("Failure")),
  WrongKey: answer("The Idempotency-Key is none.", schemaRef("Failure")),
  KeyInUse: answer(
    "A request with that Idempotency-Key is running, or its answer was not kept.",
    schemaRef("Failure"),
  ),
  KeysUnavailable: answer(
    "The server cannot look the Idempotency-Key up; try again.",
    schemaRef("Failure"),
  ),
  NotFound: answer("There is no such task, step or file.", schemaRef("Failure")),
  TooLarge: answer("More was sent than is taken.", schemaRef("Failure")),
  WrongType: answer(
    "The type of the content is another one; of JSON only where a page of another origin might have sent it.",
    schemaRef("Failure"),
  ),
  Invalid: answer("The request is not what was expected.", schemaRef("Failure")),
  StepFailed: answer(
    "The step failed and is put back: 402 the budget is used up, 409 canceled, in conflict or running under that key, 429 too many requests at the model's server, 502 the model's server or its answer, 503 the server stops, 504 too late.",
    schemaRef("Failure"),
  ),
};
