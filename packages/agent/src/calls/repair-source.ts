import { applyEdits } from "../files/apply-edits.ts";
import { readEditBlocks } from "../files/edit-blocks.ts";
import { isRefusal } from "../files/find-refusal.ts";
import { extractCode } from "../files/extract-code.ts";
import { addUsage, askModel, type AskOptions } from "./ask-model.ts";
import type { Usage } from "./budget.ts";
import { repairEditMessages, repairMessages, type RepairPromptInput } from "./prompts.ts";
import { complaintAbout, writeSource, type WrittenSource } from "./write-source.ts";

/**
 * Asks for a file without its faults: for edits first, which are few tokens for a small change and cannot lose the rest of
 * the file; where they do not fit, or the file is missing, for all of it.
 *
 * @throws AgentError `ERR_AGENT_UNUSABLE` as a rejection when no answer was a whole file
 */
export async function repairSource(
  input: Omit<RepairPromptInput, "complaint">,
  options: AskOptions,
): Promise<WrittenSource> {
  const { filePath, source } = input;
  const first = source === undefined ? undefined : await askForEdits(input, source, options);
  if (first?.code !== undefined) return { code: first.code, usage: first.usage };
  const written = await writeSource(
    filePath,
    (complaints, form) =>
      repairMessages({ ...input, complaint: complaints.at(-1) ?? first?.complaint }, form),
    options,
  );
  const usage = first === undefined ? written.usage : addUsage(first.usage, written.usage);
  return { code: written.code, usage };
}

interface Attempt {
  readonly code?: string | undefined;
  readonly complaint?: string | undefined;
  readonly usage: Usage;
}

async function askForEdits(
  input: RepairPromptInput,
  source: string,
  options: AskOptions,
): Promise<Attempt> {
  const { filePath } = input;
  const { text, usage } = await askModel({ messages: repairEditMessages(input) }, options);
  const blocks = readEditBlocks(text, filePath);
  if (blocks.form === "broken") return { complaint: "an edit in it was not whole", usage };
  if (blocks.form === "none") {
    if (isRefusal(text)) return { complaint: "it was a refusal and no file", usage };
    const { code, problem } = extractCode(text, filePath);
    const complaint =
      problem === undefined
        ? await complaintAbout(code, filePath)
        : "it was neither edits nor the file";
    return complaint === undefined ? { code, usage } : { complaint, usage };
  }
  const outcome = applyEdits(new Map([[filePath, source]]), blocks.edits);
  if (!outcome.ok) {
    const [problem] = outcome.problems;
    return { complaint: `an edit did not fit the file (${problem?.kind ?? "unknown"})`, usage };
  }
  const code = outcome.files.get(filePath) ?? source;
  const complaint = await complaintAbout(code, filePath);
  return complaint === undefined ? { code, usage } : { complaint, usage };
}
