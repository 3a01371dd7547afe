export { askModel, type Answer } from "./calls/ask-model.ts";
export { Budget, type BudgetOptions, type ModelPrice, type Usage } from "./calls/budget.ts";
export type { ModelCallOptions } from "./calls/call-options.ts";
export { generateCode, generateCode as generate_code } from "./calls/generate-code.ts";
export {
  generateCodeSync,
  generateCodeSync as generate_code_sync,
} from "./calls/generate-code-sync.ts";
export { plan } from "./calls/plan.ts";
export type { RetryPolicy } from "./calls/retry-policy.ts";
export {
  specifyFilePaths,
  specifyFilePaths as specify_file_paths,
} from "./calls/specify-file-paths.ts";
export { checkConsistency } from "./check/check-consistency.ts";
export { describeDiagnostic, type Diagnostic } from "./check/diagnostic.ts";
export {
  AgentError,
  AgentUsageError,
  type AgentErrorCode,
  type AgentUsageErrorCode,
} from "./errors.ts";
export { validateFilePath, validateFilePaths, type PathList } from "./files/file-path.ts";
export { schedule } from "./files/schedule.ts";
export type { McpServer } from "./loop/mcp-server.ts";
export { defaultModel } from "./models/default-model.ts";
export { fromAiSdk, type FromAiSdkOptions } from "./models/from-ai-sdk.ts";
export {
  anthropic,
  openAI,
  openAICompatible,
  type HttpProviderOptions,
  type OpenAiCompatibleOptions,
} from "./models/http-providers.ts";
export type {
  ChatMessage,
  ModelPart,
  ModelProvider,
  ModelRequest,
} from "./models/model-provider.ts";
export {
  createProvider,
  settingsFromEnvironment,
  type ProviderSettings,
} from "./models/provider-settings.ts";
export {
  readTranscriptHead,
  recording,
  replaying,
  type RecordingOptions,
  type TranscriptHead,
  type TranscriptRun,
} from "./models/transcript.ts";
export { diagnose } from "./project/diagnose.ts";
export type { ProjectPlan } from "./project/project-plan.ts";
export type { AgentEvent, RunHandle, RunResult } from "./run/agent-event.ts";
export type { AgentOptions, EditInput, RunInput } from "./run/agent-options.ts";
export { createAgent, type CodeAgent, type ProgramCheck } from "./run/create-agent.ts";
export { listRuns, type RunSummary } from "./run/list-runs.ts";
export { planProject } from "./run/plan-project.ts";
export { commandCheck, packageScripts, type CommandCheckOptions } from "./verify/commands.ts";
export { goCheck, pythonCheck, rustCheck, shellCheck } from "./verify/language-verifiers.ts";
export { defaultVerifiers, nodeTest, typeCheck } from "./verify/node-verifiers.ts";
export {
  createSandbox,
  type ExecResult,
  type Sandbox,
  type SandboxLevel,
  type SandboxOptions,
} from "./verify/sandbox.ts";
export type { Coverage } from "./verify/coverage.ts";
export type { ProjectView, Verifier } from "./verify/verifier.ts";
export type { Approver, ConflictPolicy, ProposedChange } from "./workspace/project-writer.ts";
export { proposeChanges } from "./workspace/propose-changes.ts";
export { undoRun, type UndoResult } from "./workspace/undo-run.ts";
export { unifiedDiff } from "./workspace/unified-diff.ts";
