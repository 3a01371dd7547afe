import type { BudgetOptions } from "../calls/budget.ts";
import type { RetryPolicy } from "../calls/retry-policy.ts";
import type { McpServer } from "../loop/mcp-server.ts";
import type { ModelProvider } from "../models/model-provider.ts";
import type { SandboxOptions } from "../verify/sandbox.ts";
import type { Verifier } from "../verify/verifier.ts";
import type { Approver, ConflictPolicy } from "../workspace/project-writer.ts";

/** How an agent works. */
export interface AgentOptions {
  /** Reaches models. Default: what the environment describes (`settingsFromEnvironment`). */
  readonly provider?: ModelProvider | undefined;
  /** Name of the model. Default: the provider's. */
  readonly model?: string | undefined;
  /** Model of plan, file list and contract. Default: `model`. */
  readonly planModel?: string | undefined;
  /** Model of repairs. Default: `model`. */
  readonly repairModel?: string | undefined;
  /** 0 to 2. Default: the server's. */
  readonly temperature?: number | undefined;
  /** Maximum tokens of an answer. Default: the server's, or the budget's. */
  readonly maxOutputTokens?: number | undefined;
  /** When failed calls are repeated. */
  readonly retry?: RetryPolicy | undefined;
  /** Milliseconds without a piece of an answer after which an attempt fails. Default: `120_000`. */
  readonly idleTimeout?: number | undefined;
  /** Limits in tokens, money and time; a resumed run has what is left, not time. Default: none. */
  readonly budget?: BudgetOptions | undefined;
  /** Files that are written at the same time. Default: 8. */
  readonly concurrency?: number | undefined;
  /** Maximum files of a project. Default: `1_000`. */
  readonly maxFiles?: number | undefined;
  /** Maximum bytes of a file. Default: 2 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Maximum bytes of all files. Default: 64 MiB. */
  readonly maxTotalBytes?: number | undefined;
  /** Maximum number of repairs. Repairs end before when they do not help. Default: 2; 0: none. */
  readonly repair?: number | undefined;
  /** Verifiers to run after the static check; see `defaultVerifiers`. Default: none. */
  readonly verifiers?: readonly Verifier[] | undefined;
  /** Limits of what is run. */
  readonly sandbox?: SandboxOptions | undefined;
  /**
   * Servers whose tools the model of an edit may call, as `<name>__<tool>`: at most 40 tools. They
   * run outside of the sandbox, also in a dry run, with all powers of the user. One that fails ends
   * the edit with `ERR_AGENT_MCP`. Default: none.
   */
  readonly mcp?: readonly McpServer[] | undefined;
  /** Decides about each change before it is written. Default: all are. */
  readonly approve?: Approver | undefined;
  /**
   * Whether edits may change files that run by themselves (`.github`, `.husky`, `.vscode`) and
   * files with secrets; meant for an `approve` that asks people. Default: `false`.
   */
  readonly allowProtected?: boolean | undefined;
  /** Policy for files that somebody changed. Default: `merge`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** Options that concern folders and people, of which a server of tasks has none. */
export type FolderOption = "allowProtected" | "approve" | "mcp" | "onConflict";

/** Names of the other options. */
export const taskOptionNames: readonly Exclude<keyof AgentOptions, FolderOption>[] = [
  "provider",
  "model",
  "planModel",
  "repairModel",
  "temperature",
  "maxOutputTokens",
  "retry",
  "idleTimeout",
  "budget",
  "concurrency",
  "maxFiles",
  "maxFileBytes",
  "maxTotalBytes",
  "repair",
  "verifiers",
  "sandbox",
];

/** Names of {@link AgentOptions}. */
export const agentOptionNames: readonly (keyof AgentOptions)[] = [
  ...taskOptionNames,
  "mcp",
  "allowProtected",
  "approve",
  "onConflict",
];

/** Input of a run that writes a program. */
export interface RunInput {
  /** Description of what the program is to do. */
  readonly prompt: string;
  /** Folder of the program. It is made where it does not exist; nothing in it is ever deleted. */
  readonly out: string;
  /** Name of the run: letters, digits, `_` and `-`. Default: a random one. */
  readonly runId?: string | undefined;
  /** A plan in Markdown to keep to, instead of asking for one. */
  readonly sharedDeps?: string | undefined;
  /** Writes nothing, also no journal. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** How a run, or an edit, is taken up. */
export interface ResumeInput {
  /** Folder of the program, as it was given to `run`. */
  readonly out: string;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** Input of an edit. */
export interface EditInput {
  /** Change that is wanted. */
  readonly request: string;
  /** Folder of the program. */
  readonly out: string;
  /** Name of the run. Default: a random one. */
  readonly runId?: string | undefined;
  /** An earlier run of the folder whose conversation goes on with this request. Default: none. */
  readonly continues?: string | undefined;
  /** Paths of pictures for the model: PNG, JPEG, GIF, WebP; at most 10 and 8 MiB. Default: none. */
  readonly images?: readonly string[] | undefined;
  /**
   * Whether the model may change nothing and answer a question, in `summary` of the result.
   * Default: `false`, and no change is `ERR_AGENT_UNUSABLE`.
   */
  readonly mayOnlyAnswer?: boolean | undefined;
  /** Writes nothing. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /**
   * Also works where files of the folder have changes that git has not committed. Default: where it
   * `continues` a run; elsewhere they are `ERR_AGENT_CONFLICT`.
   */
  readonly dirty?: boolean | undefined;
  /**
   * Commits the files of a run without new errors on the current branch. It runs hooks, filters and
   * signatures of the user's git, outside of the sandbox: hooks may run what the model wrote.
   * Default: `false`.
   */
  readonly commit?: boolean | undefined;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** Options with every default. */
export interface AgentSettings extends AgentOptions {
  readonly concurrency: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly repair: number;
  readonly onConflict: ConflictPolicy;
}
