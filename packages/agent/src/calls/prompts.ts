import type { ChatMessage, ModelTool } from "../models/model-provider.ts";
import type { ShownFiles } from "../project/files-to-show.ts";
import type { FileSpec } from "../project/project-plan.ts";
import type { AnswerForm } from "./ask-by-tool.ts";

/** Parts of the prompt for a file. */
export interface FilePromptInput {
  readonly prompt: string;
  readonly sharedDeps: string;
  readonly filePath: string;
  /** Entry of the plan for the file. Default: only the Markdown describes the file. */
  readonly spec?: FileSpec | undefined;
  /** Finished files that it uses: their text, or their declarations. Default: none. */
  readonly context?: readonly ContextFile[] | undefined;
  /** Why earlier answers could not be used. Default: none. */
  readonly complaints?: readonly string[] | undefined;
}

/** A finished file, as another file's writer sees it. */
export interface ContextFile {
  readonly path: string;
  /** Whether `text` is the file or only what it declares. */
  readonly form: "text" | "declarations";
  readonly text: string;
}

const role =
  "You are a senior engineer who writes small, complete programs. You are asked for one step at a time; answer that step and nothing else.";

const system = (rest: string): ChatMessage => ({ role: "system", content: `${role} ${rest}` });
const user = (content: string): ChatMessage => ({ role: "user", content });

/** Asks for the plan in Markdown. */
export function planMessages(
  prompt: string,
  extraMessages: readonly ChatMessage[],
): readonly ChatMessage[] {
  return [
    system(
      "Answer in Markdown. Begin with a YAML list of every file of the program, each with one line about its purpose. Then say, for each file, what the others have to know of it: exported names with their parameters, types and schemas, ids of elements, names of messages and routes. Use as few files as the program needs. Write no code.",
    ),
    user(`# Plan\n\nPlan this program:\n\n${prompt}`),
    ...extraMessages,
  ];
}

/** Asks for the files and what they owe each other. */
export function contractMessages(prompt: string, sharedDeps: string): readonly ChatMessage[] {
  return [
    system(
      "List the files that have to be written, with what each uses and exports. Paths are relative to the folder of the program. A file depends on the files whose names it imports or whose elements it looks for.",
    ),
    user(`# Program\n\n${prompt}`),
    user(`# Plan of the program\n\n${sharedDeps}`),
    user("# Contract\n\nList the files with their contract."),
  ];
}

const texts = { type: "array", items: { type: "string" } } as const;

/** The structured form of {@link contractMessages}. */
export const contractTool: ModelTool = {
  name: "project_files",
  description: "Names the files of the program and what they owe each other.",
  parameters: {
    type: "object",
    properties: {
      files: {
        type: "array",
        items: {
          type: "object",
          properties: {
            path: { type: "string", description: "Relative path." },
            purpose: { type: "string", description: "One sentence." },
            dependsOn: { ...texts, description: "Paths of the files that it uses." },
            exports: { ...texts, description: "Names that it exports." },
            domIds: { ...texts, description: "Ids of elements that it makes." },
          },
          required: ["path", "purpose", "dependsOn", "exports"],
          additionalProperties: false,
        },
      },
    },
    required: ["files"],
    additionalProperties: false,
  },
};

/** Takes the source of a file. The path is known: it is the one that is asked for. */
export const writeFileTool: ModelTool = {
  name: "write_file",
  description: "Writes the file.",
  parameters: {
    type: "object",
    properties: { content: { type: "string", description: "The whole source, exactly." } },
    required: ["content"],
    additionalProperties: false,
  },
};

const wholeFile = {
  tool: (file: string): string => `Answer with one call of write_file with the whole ${file}. `,
  text: (file: string): string =>
    `Answer with the whole ${file}, and nothing before or after it: no explanation, no fence. `,
} as const;

/** Asks for the source of one file. */
export function fileMessages(input: FilePromptInput, form: AnswerForm): readonly ChatMessage[] {
  const { prompt, sharedDeps, filePath, spec, context = [], complaints = [] } = input;
  const contract =
    spec === undefined
      ? ""
      : `\n\nIt is for: ${spec.purpose || "see the plan"}\nIt uses: ${listed(spec.dependsOn)}\nIt exports: ${listed(spec.exports)}${
          (spec.domIds ?? []).length > 0 ? `\nElements it makes: ${listed(spec.domIds ?? [])}` : ""
        }`;
  return [
    system(
      `${wholeFile[form]("source of the one file")}Leave nothing out, also not what seems obvious. Keep to the names of the plan and of the finished files.`,
    ),
    user(`# Program\n\n${prompt}`),
    user(`# Plan of the program\n\n${sharedDeps}`),
    ...context.map((file) => fileMessage(file, "Finished file")),
    ...complaints.map((complaint) =>
      user(`# Earlier answer\n\nIt could not be used: ${complaint}`),
    ),
    user(`# Write ${filePath}${contract}\n\nAnswer with the source of ${filePath}.`),
  ];
}

/** Parts of the prompt for a repair. */
export interface RepairPromptInput {
  readonly prompt: string;
  readonly sharedDeps: string;
  readonly filePath: string;
  /** The file as it is; undefined: it is missing. */
  readonly source: string | undefined;
  /** Faults to repair, one line each. */
  readonly problems: readonly string[];
  readonly context: readonly ContextFile[];
  /** Why the last answer could not be used. Default: there was none. */
  readonly complaint?: string | undefined;
}

/** Takes the repair of a file: edits of it, or all of it. */
export const repairFileTool: ModelTool = {
  name: "repair_file",
  description: "Changes the file.",
  parameters: {
    type: "object",
    properties: {
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: {
            search: {
              type: "string",
              description: "Lines exactly as in the file, enough of them to occur there once.",
            },
            replace: { type: "string", description: "Lines to write instead." },
          },
          required: ["search", "replace"],
          additionalProperties: false,
        },
      },
      content: { type: "string", description: "The whole source, instead of edits." },
    },
    additionalProperties: false,
  },
};

/** Asks for a file without its faults. */
export function repairMessages(
  { prompt, sharedDeps, filePath, source, problems, context, complaint }: RepairPromptInput,
  form: AnswerForm,
): readonly ChatMessage[] {
  const whole = `Answer with the source of ${filePath}.`;
  const [how, task] =
    form === "tool" && source !== undefined
      ? [
          "Answer with one call of repair_file. ",
          `Answer with edits. If most lines of the file have to change, answer with all of it instead: ${whole}`,
        ]
      : [wholeFile[form]("corrected source of that one file"), whole];
  return [
    system(`A check found faults in a file. ${how}Change what the faults need and nothing else.`),
    user(`# Program\n\n${prompt}`),
    user(`# Plan of the program\n\n${sharedDeps}`),
    ...context.map((file) => fileMessage(file, "Finished file")),
    user(`# File ${filePath} as it is\n\n${source ?? "It does not exist yet."}`),
    ...(complaint === undefined
      ? []
      : [user(`# Earlier answer\n\nIt could not be used: ${complaint}`)]),
    user(
      `# Repair ${filePath}\n\nFaults:\n${problems.map((problem) => `- ${problem}`).join("\n")}\n\n${task}`,
    ),
  ];
}

/** Asks which files of a project have to change, and how. */
export function editMessages(
  request: string,
  { paths, files }: ShownFiles,
): readonly ChatMessage[] {
  return [
    system(
      "Change the program as asked, with as few edits as possible. An edit replaces a part of a file that occurs there exactly once, or is the whole content of a new file.",
    ),
    user(`# Files of the program\n\n${bullets(paths)}`),
    ...files.map((file) => fileMessage(file, "File")),
    user(`# Edit\n\n${request}`),
  ];
}

/** Asks what causes an error. */
export function diagnoseMessages(
  problem: string,
  faults: readonly string[],
  { paths, files }: ShownFiles,
): readonly ChatMessage[] {
  return [
    {
      role: "system",
      content:
        "You are a senior engineer who finds the cause of an error in a program. Answer in Markdown: first the cause in one or two sentences, then the places (file and line or function) with what is wrong there, then what to change, with the lines as they should be. Say what you are not sure of, and which file you would have to see for it. Do not repeat the program.",
    },
    user(`# Files of the program\n\n${bullets(paths)}`),
    ...files.map((file) => fileMessage(file, "File")),
    user(`# What a check finds without running it\n\n${bullets(faults)}`),
    user(`# Error\n\n${problem}`),
  ];
}

function fileMessage({ path, form, text }: ContextFile, title: string): ChatMessage {
  return user(`# ${title} ${path} (${form === "text" ? "whole" : "declarations"})\n\n${text}`);
}

function bullets(lines: readonly string[]): string {
  return lines.length === 0 ? "Nothing." : lines.map((line) => `- ${line}`).join("\n");
}

/** The structured form of {@link editMessages}. */
export const editTool: ModelTool = {
  name: "edit_files",
  description: "Changes files of the program.",
  parameters: {
    type: "object",
    properties: {
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: {
            path: { type: "string" },
            search: { type: "string", description: "Text that occurs in the file exactly once." },
            replace: { type: "string", description: "Text to write instead." },
            content: { type: "string", description: "The whole file, instead of the other two." },
          },
          required: ["path"],
          additionalProperties: false,
        },
      },
    },
    required: ["edits"],
    additionalProperties: false,
  },
};

function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}
