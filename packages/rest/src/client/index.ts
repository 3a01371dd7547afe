export type {
  ApiClient,
  BulkOperation,
  BulkResult,
  CallOptions,
  Changes,
  ConditionalOptions,
  OperationCall,
  OperationInput,
  ResourceClient,
  Selected,
  ShowParameters,
} from "./api-client.ts";
export { createClient, type ApiClientOptions } from "./create-client.ts";
export type { Group, GroupParameters } from "./group-parameters.ts";
export type { ApiDescription } from "./description.ts";
export { ClientError, ProblemError, type ClientErrorCode, type RefusedField } from "./errors.ts";
export type {
  FilterOperator,
  ListParameters,
  ListWhere,
  ParameterValue,
  ParameterValues,
  WhereValue,
} from "./list-parameters.ts";
export type { Populated } from "./populated.ts";
export type { PageReply, Reply } from "./reply.ts";
