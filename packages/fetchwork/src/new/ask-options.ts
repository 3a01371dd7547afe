import type { Readable, Writable } from "node:stream";
import { faultOfTitle, titleOf } from "./project-options.ts";

/** The questions; those already answered by options are skipped. */
export interface Answers {
  folder?: string | undefined;
  title?: string | undefined;
  database?: string | undefined;
  auth?: string | undefined;
  signUp?: string | undefined;
  passwordResets?: boolean | undefined;
  webhooks?: boolean | undefined;
  list?: string | undefined;
}

/** The folder that Enter alone takes. */
export const defaultFolder = "my-api";

/** The person to ask, and how. */
interface AskContext {
  readonly input: Readable;
  /** Default: the standard output. */
  readonly output?: Writable | undefined;
  /** Returns the project name for a folder. */
  readonly nameOf: (folder: string) => string;
  /** Describes why a project cannot be written to a folder; `undefined` if it can. */
  readonly faultOfFolder: (folder: string) => string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks for the options that are missing.
 *
 * @returns undefined when the user has pressed Ctrl-C.
 */
export async function askOptions(
  given: Answers,
  { input, output, nameOf, faultOfFolder, signal }: AskContext,
): Promise<Answers | undefined> {
  const { confirm, intro, isCancel, select, text } = await import("@clack/prompts");
  const answers: Answers = { ...given };
  const common = { input, signal, ...(output !== undefined && { output }) };
  /** Stores the answer; false when the user cancelled. */
  const keep = <K extends keyof Answers>(name: K, answer: Answers[K] | symbol): boolean => {
    if (isCancel(answer) || typeof answer === "symbol") return false;
    answers[name] = answer;
    return true;
  };

  intro("A new REST API", common);
  if (answers.folder === undefined) {
    const folder = await text({
      ...common,
      message: "In which folder?",
      placeholder: defaultFolder,
      defaultValue: defaultFolder,
      validate: (value) => faultOfFolder(value || defaultFolder),
    });
    if (!keep("folder", folder)) return undefined;
  }
  if (answers.title === undefined) {
    const suggested = titleOf(nameOf(answers.folder ?? ""));
    const title = await text({
      ...common,
      message: "What is it called?",
      initialValue: suggested,
      validate: (value) => faultOfTitle(value ?? ""),
    });
    if (!keep("title", title)) return undefined;
  }
  if (answers.database === undefined) {
    const database = await select({
      ...common,
      message: "Which database?",
      options: [
        { value: "sqlite", label: "SQLite", hint: "a file, nothing to install" },
        { value: "postgres", label: "PostgreSQL", hint: "any number of processes" },
      ],
    });
    if (!keep("database", database)) return undefined;
  }
  if (answers.auth === undefined) {
    // An option on the command line requires users.
    const isForUsers =
      given.passwordResets === true || given.webhooks === true || given.signUp === "public";
    const auth = isForUsers
      ? "password"
      : await select({
          ...common,
          message: "How do users sign in?",
          options: [
            { value: "password", label: "With a password", hint: "providers can be added" },
            { value: "none", label: "No users", hint: "only the master key" },
          ],
        });
    if (!keep("auth", auth)) return undefined;
  }
  if (answers.auth === "none") return answers;
  if (answers.signUp === undefined) {
    const signUp = await select({
      ...common,
      message: "Who may sign up and sign in?",
      options: [
        { value: "public", label: "Everyone, with verified mail" },
        { value: "master", label: "Only your own server", hint: "with the master key" },
      ],
    });
    if (!keep("signUp", signUp)) return undefined;
  }
  // Where mails are sent anyway, lost passwords are set by mail, too.
  if (answers.signUp === "public") answers.passwordResets = true;
  for (const [name, message] of [
    ["passwordResets", "Add password reset by email?"],
    ["webhooks", "Send webhooks on changes?"],
  ] as const) {
    if (answers[name] !== undefined) continue;
    if (!keep(name, await confirm({ ...common, message, initialValue: false }))) return undefined;
  }
  if (answers.list === undefined) {
    const list = await select({
      ...common,
      message: "List response format",
      options: [
        { value: "array", label: "[…]", hint: "total count in X-Total-Count" },
        { value: "rows", label: "{ rows: […], count }" },
      ],
    });
    if (!keep("list", list)) return undefined;
  }
  return answers;
}
