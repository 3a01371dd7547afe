import { applyEdits } from "../files/apply-edits.ts";
import { readEditBlocks } from "../files/edit-blocks.ts";
import { isRefusal } from "../files/find-refusal.ts";
import { extractCode } from "../files/extract-code.ts";
import { askModel, type AskOptions } from "./ask-model.ts";
import { repairEditMessages, repairMessages, type RepairPromptInput } from "./prompts.ts";
import { complaintAbout, writeSource } from "./write-source.ts";

/**
 * Asks for a file without its faults: for edits first, which are few tokens for a small change and
 * cannot lose the rest of the file; where they do not fit, or the file is missing, for all of it.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export async function repairSource(
  input: Omit<RepairPromptInput, "complaint">,
  options: AskOptions,
): Promise<string> {
  const { filePath, source } = input;
  const first = source === undefined ? {} : await askForEdits(input, source, options);
  if (first.code !== undefined) return first.code;
  return writeSource(
    filePath,
    (complaints, form) =>
      repairMessages({ ...input, complaint: complaints.at(-1) ?? first.complaint }, form),
    options,
  );
}

interface Attempt {
  readonly code?: string | undefined;
  readonly complaint?: string | undefined;
}

async function askForEdits(
  input: RepairPromptInput,
  source: string,
  options: AskOptions,
): Promise<Attempt> {
  const { filePath } = input;
  const { text } = await askModel({ messages: repairEditMessages(input) }, options);
  const blocks = readEditBlocks(text, filePath);
  if (blocks.form === "broken") return { complaint: "an edit in it was not whole" };
  if (blocks.form === "none") {
    if (isRefusal(text)) return { complaint: "it was a refusal and no file" };
    const { code, problem } = extractCode(text, filePath);
    if (problem !== undefined) return { complaint: "it was neither edits nor the file" };
    return judged(code, filePath);
  }
  const outcome = applyEdits(new Map([[filePath, source]]), blocks.edits);
  if (outcome.ok) return judged(outcome.files.get(filePath) ?? source, filePath);
  const [problem] = outcome.problems;
  return { complaint: `an edit did not fit the file (${problem?.kind ?? "unknown"})` };
}

async function judged(code: string, filePath: string): Promise<Attempt> {
  const complaint = await complaintAbout(code, filePath);
  return complaint === undefined ? { code } : { complaint };
}
