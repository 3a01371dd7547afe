import { existsSync } from "node:fs";
import { join } from "node:path";
import { askOnce, modelOf, type AskOptions } from "../calls/ask-model.ts";
import { describeDiagnostic, fingerprintOf } from "../check/diagnostic.ts";
import { AgentError } from "../errors.ts";
import { ChangedFiles } from "../loop/changed-files.ts";
import { changeTools } from "../loop/change-tools.ts";
import { lookTools } from "../loop/look-tools.ts";
import type { LoopTools } from "../loop/loop-tool.ts";
import { sandboxTools } from "../loop/sandbox-tools.ts";
import { lastWords, runLoop, type Conversation } from "../loop/run-loop.ts";
import { fenced } from "../project/fenced.ts";
import { filesToShow, tokensOf } from "../project/files-to-show.ts";
import { instructionsOf } from "../project/instructions.ts";
import { surveyOf } from "../project/survey.ts";
import type { Sandbox } from "../verify/sandbox.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { readJournal } from "../workspace/journal.ts";
import type { FileList } from "../workspace/list-files.ts";
import type { ChangeCheck, ChangeReport } from "./change-check.ts";
import type { EditRunParts } from "./edit-run.ts";
import type { ImagePart } from "./read-images.ts";
import { readState } from "./run-state.ts";

/** Maximum questions of a loop. */
const maxSteps = 200;

/** Tokens of the program that the model sees first: every question of the loop repeats them. */
const shownTokens = 1_300;

/** Tokens of a survey where the instructions of the repository take the room. */
const minSurvey = 400;

const instructions =
  "You are a senior engineer who changes a program. Look at what you need with the tools, change the files as asked, and change nothing else. Keep to the style of the code that is there. Call several tools at once where they do not need each other's results. Files are checked when you are done, and you are told what is wrong then. When you are done, say in one or two sentences what you did, and call no tool.";

/** Report on a program without changes. */
const unchanged: ChangeReport = {
  diagnostics: [],
  knownErrors: 0,
  checked: 0,
  unchecked: [],
  level: undefined,
};

/** Result of a loop: the edited program. */
export interface EditedProgram {
  /** Every file as it is then. */
  readonly files: ReadonlyMap<string, string>;
  readonly report: ChangeReport;
  /** How often the model was told what was wrong. */
  readonly repairs: number;
  /** Last words of the model. */
  readonly summary?: string | undefined;
}

/** Program at the beginning of an edit. */
export interface ProgramBefore {
  readonly list: FileList;
  readonly before: ReadonlyMap<string, string>;
  /** Paths of files that are no text, or too long. */
  readonly unread: ReadonlySet<string>;
  readonly check: ChangeCheck;
  /** Where commands are run; undefined: they are not. */
  readonly sandbox: Sandbox | undefined;
  /** Tools of MCP servers. Default: none. */
  readonly mcpTools?: LoopTools | undefined;
}

/**
 * Has a model change a program by tools and checks it. The model is told what is new and wrong, as
 * often as repairs are allowed; what no tool of the program reports it is told once. The program
 * with the fewest errors counts, then with the fewest of those. Every answer is in the journal
 * before it is used.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when nothing is changed
 */
export async function editWithTools(
  { request, settings, emit, signal, record, state, folder, ...parts }: EditRunParts,
  { list, before, unread, check, sandbox, mcpTools }: ProgramBefore,
  options: AskOptions,
): Promise<EditedProgram> {
  const { maxFileBytes, allowProtected = false, repair } = settings;
  const { canRemove = true, continues, images, mayOnlyAnswer = false } = parts;
  const isTaken = (path: string): boolean => existsSync(join(folder.root, path));
  const limits = { maxFileBytes, canRemove, allowProtected, isTaken };
  const files = new ChangedFiles(before, unread, limits);
  let conversation: Conversation =
    continues === undefined
      ? [user(await firstQuestion(request, files, list), images)]
      : [...(await conversationOf(continues, folder)), user(nextQuestion(request), images)];
  let best: EditedProgram | undefined;
  let refusal = "";
  const shown = new Set<string>();
  for (let round = 0; ; round += 1) {
    conversation = await runLoop(conversation, {
      name: modelOf(options),
      ask: (question) => askOnce(question, options),
      answers: state.answers,
      keep: (key, answer) => record("answer", { key, answer }),
      results: state.results,
      keepResult: (callId, result) => record("result", { callId, result }),
      instructions,
      tools: {
        ...mcpTools,
        ...lookTools(files),
        ...changeTools(files),
        ...(sandbox && sandboxTools(files, sandbox, folder.root)),
      },
      maxSteps,
      signal,
      onTool: (name, about, { text, isRefused }) => {
        if (isRefused) refusal = ` The last refusal of a tool: ${text}`;
        emit({ type: "tool", name, about, ok: !isRefused });
      },
    });
    const summary = lastWords(conversation);
    if (files.changed.size === 0) {
      if (mayOnlyAnswer) {
        await record("turns", { messages: conversation });
        return { files: before, report: unchanged, repairs: round, summary };
      }
      throw new AgentError(
        "ERR_AGENT_UNUSABLE",
        `the model changed nothing, and said: ${summary.slice(0, 300)}${refusal.slice(0, 1_000)}`,
      );
    }
    const report = await check.round(round, files.files, emit);
    const [errors, doubts] = faultsOf(report);
    if (best === undefined || weightOf(report) < weightOf(best.report)) {
      best = { files: new Map(files.files), report, repairs: round };
    }
    const unseen = doubts.filter((one) => !shown.has(fingerprintOf(one)));
    for (const one of unseen) shown.add(fingerprintOf(one));
    if (errors.length + unseen.length === 0 || round === repair) {
      await record("turns", { messages: conversation });
      return { ...best, repairs: round, summary };
    }
    emit({ type: "step", step: "repair", round: round + 1 });
    const faults = [...errors, ...unseen].slice(0, 30).map(describeDiagnostic);
    conversation = [
      ...conversation,
      user(`# Check\n\nThese faults are new since your changes:\n\n${faults.join("\n")}`),
    ];
  }
}

/** Errors, and warnings that would be errors if the program's tools said so too. */
function faultsOf({ diagnostics }: ChangeReport) {
  return [
    diagnostics.filter(({ severity }) => severity === "error"),
    diagnostics.filter(({ unconfirmed }) => unconfirmed),
  ] as const;
}

/** An error weighs more than any number of doubts. */
function weightOf(report: ChangeReport): number {
  const [errors, doubts] = faultsOf(report);
  return errors.length * 1e6 + doubts.length;
}

function user(text: string, images: readonly ImagePart[] = []): Conversation[number] {
  if (images.length === 0) return { role: "user", content: text };
  return { role: "user", content: [{ type: "text", text }, ...images] };
}

/** Conversation of an earlier run of the folder. */
async function conversationOf(runId: string, folder: ConfinedFolder): Promise<Conversation> {
  const path = `.fetchwork/runs/${runId}/journal.ndjson`;
  if (!(await folder.exists(path))) {
    throw new AgentError("ERR_AGENT_JOURNAL", `there is no run ${runId} in ${folder.root}`);
  }
  const { turns, prompt = "" } = readState(await readJournal(join(folder.root, path)));
  // A run that wrote a program had no conversation.
  return (
    turns ?? [user(`# Earlier request\n\n${prompt}`), { role: "assistant", content: "It is done." }]
  );
}

function nextQuestion(request: string): string {
  return `# Request\n\nFiles may have changed since: read them again before you change them.\n\n${request}`;
}

/** The request, after the program or a survey of it, and the repository's instructions. */
async function firstQuestion(
  request: string,
  files: ChangedFiles,
  list: FileList,
): Promise<string> {
  const named = [...files.files.keys()].filter((path) => request.includes(path));
  const shown = instructionsOf(list, named);
  const maxTokens = Math.max(minSurvey, shownTokens - tokensOf(shown));
  const length = [...files.files.values()].reduce((sum, text) => sum + text.length, 0);
  const seen =
    length < shownTokens * 3
      ? await wholeProgram(files, request)
      : `# Program\n\n${await surveyOf(fromMemory(list, files), { request, maxTokens })}`;
  return [seen, ...(shown === "" ? [] : [shown]), `# Request\n\n${request}`].join("\n\n");
}

/** A list whose files are not read once more; those that are there without their content are. */
function fromMemory(list: FileList, { files }: ChangedFiles): FileList {
  return {
    ...list,
    readHead: (path, maxBytes) =>
      files.get(path)?.slice(0, maxBytes) || list.readHead(path, maxBytes),
  };
}

/** Every file but secrets, which then needs not be read. */
async function wholeProgram(files: ChangedFiles, about: string): Promise<string> {
  const { files: shown } = await filesToShow(files.files, { maxTokens: shownTokens * 2, about });
  const paths = [...files.files.keys()].toSorted().join("\n");
  const texts = shown.map(({ path }) => fenced(path, files.read(path)));
  return [`# Files of the program\n\n${paths || "There is none."}`, ...texts].join("\n\n");
}
