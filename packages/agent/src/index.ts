export {
  addUsage,
  askModel,
  type Answer,
  type AskOptions,
  type Question,
} from "./calls/ask-model.ts";
export {
  Budget,
  type BudgetOptions,
  type ModelPrice,
  type Reservation,
  type Usage,
} from "./calls/budget.ts";
export type { ModelCallOptions, PlanOptions } from "./calls/call-options.ts";
export { generateCode } from "./calls/generate-code.ts";
export { generateCodeSync, type SyncOptions } from "./calls/generate-code-sync.ts";
export { plan } from "./calls/plan.ts";
export type { RetryNotice, RetryPolicy } from "./calls/retry-policy.ts";
export { generate_code, generate_code_sync, specify_file_paths } from "./calls/snake-case.ts";
export type { Amount, Spending, Standing } from "./calls/spending.ts";
export { specifyFilePaths } from "./calls/specify-file-paths.ts";
export { checkConsistency } from "./check/check-consistency.ts";
export { describeDiagnostic, type Diagnostic, type DiagnosticCode } from "./check/diagnostic.ts";
export {
  AgentError,
  AgentUsageError,
  type AgentErrorCode,
  type AgentErrorOptions,
  type AgentUsageErrorCode,
} from "./errors.ts";
export {
  validateFilePath,
  validateFilePaths,
  type PathList,
  type PathPolicy,
  type PathResult,
  type RefusedPath,
} from "./files/file-path.ts";
export { schedule, type ScheduledFile } from "./files/schedule.ts";
export type { McpServer } from "./loop/mcp-server.ts";
export { defaultAnthropicModel, defaultModel } from "./models/default-model.ts";
export {
  fromAiSdk,
  type AiSdkLanguageModel,
  type AiSdkModel,
  type FromAiSdkOptions,
} from "./models/from-ai-sdk.ts";
export {
  anthropic,
  openAI,
  openAICompatible,
  type HttpProviderOptions,
  type OpenAiCompatibleOptions,
} from "./models/http-providers.ts";
export type {
  ChatMessage,
  FinishReason,
  OutputSchema,
  ModelCapabilities,
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTool,
  TokenCount,
} from "./models/model-provider.ts";
export {
  createProvider,
  settingsFromEnvironment,
  type Environment,
  type ProviderSettings,
} from "./models/provider-settings.ts";
export {
  readTranscriptHead,
  recording,
  replaying,
  type RecordingOptions,
  type TranscriptHead,
  type TranscriptRun,
  type TranscriptSource,
} from "./models/transcript.ts";
export { diagnose, type DiagnoseOptions } from "./project/diagnose.ts";
export type { FileSpec, ProjectPlan } from "./project/project-plan.ts";
export type { AgentEvent, RunHandle, RunResult, StepName } from "./run/agent-event.ts";
export type { AgentOptions, EditInput, ResumeInput, RunInput } from "./run/agent-options.ts";
export { createAgent, type CodeAgent, type ProgramCheck } from "./run/create-agent.ts";
export { listRuns, type RunSummary } from "./run/list-runs.ts";
export { planProject } from "./run/plan-project.ts";
export { commandCheck, packageScripts, type CommandCheckOptions } from "./verify/commands.ts";
export { goCheck, pythonCheck, rustCheck, shellCheck } from "./verify/language-verifiers.ts";
export {
  defaultVerifiers,
  nodeCheck,
  nodeTest,
  typeCheck,
  type TypeCheckOptions,
} from "./verify/node-verifiers.ts";
export {
  createSandbox,
  type ExecOptions,
  type ExecResult,
  type Sandbox,
  type SandboxLevel,
  type SandboxOptions,
} from "./verify/sandbox.ts";
export type { Coverage } from "./verify/coverage.ts";
export type { ProjectView, Verifier } from "./verify/verifier.ts";
export type {
  Approver,
  ConflictPolicy,
  ProposedChange,
  WriteAction,
  WrittenFile,
} from "./workspace/project-writer.ts";
export { proposeChanges, type ProposeOptions } from "./workspace/propose-changes.ts";
export {
  undoRun,
  type UndoneFile,
  type UndoOptions,
  type UndoResult,
} from "./workspace/undo-run.ts";
export { unifiedDiff } from "./workspace/unified-diff.ts";
