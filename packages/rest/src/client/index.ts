export type { ApiClient, BulkResult } from "./api-client.ts";
export type { AuthClient, Credentials } from "./auth-client.ts";
export type { AuthOptions, AuthTokens, AuthTokenStore } from "./client-session.ts";
export { createClient, type ApiClientOptions } from "./create-client.ts";
export { ClientError, ProblemError, type ClientErrorCode } from "./errors.ts";
export type { ListParameters } from "./list-parameters.ts";
export type { Populated } from "./populated.ts";
export type { PageResult, QueryResult, Result } from "./result.ts";
