import { z } from "zod";
import { applyEdit, endAs } from "../files/apply-edits.ts";
import { findElisions } from "../files/find-elisions.ts";
import { mayBeSecret } from "../project/secret-files.ts";
import { ToolRefusal, type ChangedFiles } from "./changed-files.ts";
import { defineTool, type LoopTools } from "./loop-tool.ts";

/** Tools that change the files of a program. */
export function changeTools(files: ChangedFiles): LoopTools {
  const path = z.string().describe("Relative to the folder of the program.");
  return {
    edit: defineTool({
      description:
        "Replaces a part of a file that you have read. `search` has whole lines exactly as in the file, enough of them to occur there once.",
      input: z.object({ path, search: z.string(), replace: z.string() }),
      about: ({ path: named }) => named,
      execute: ({ path: named, search, replace }) => {
        files.edit(named, (text) => refuseElisions(named, text, edited(text, search, replace)));
        return "Done.";
      },
    }),
    write: defineTool({
      description:
        "Makes a file, or replaces all of a file that you have read. For small changes of a file use `edit`.",
      input: z.object({ path, content: z.string() }),
      about: ({ path: named }) => named,
      execute: ({ path: named, content }) => {
        const old = files.files.get(files.path(named)) ?? "";
        files.write(named, endAs(old, refuseElisions(named, old, content)));
        return "Done.";
      },
    }),
    move: defineTool({
      description: "Moves a file to another path.",
      input: z.object({ from: path, to: path }),
      about: ({ from, to }) => `${from} to ${to}`,
      execute: ({ from, to }) => {
        files.move(from, to);
        return "Done.";
      },
    }),
    remove: defineTool({
      description: "Takes a file away.",
      input: z.object({ path }),
      about: ({ path: named }) => named,
      execute: ({ path: named }) => {
        files.remove(named);
        return "Done.";
      },
    }),
  };
}

function edited(text: string, search: string, replace: string): string {
  const outcome = applyEdit(text, search, replace);
  if (outcome.ok) return outcome.text;
  const { kind, nearest } = outcome;
  if (kind === "empty-search") throw new ToolRefusal("`search` is empty.");
  if (kind === "several-matches") {
    throw new ToolRefusal("`search` occurs there several times: add lines around it.");
  }
  const like = nearest === "" ? "" : ` Most like it is:\n${nearest}`;
  throw new ToolRefusal(`\`search\` does not stand in the file.${like}`);
}

/** A comment that stands for code that was left out takes that code away. */
function refuseElisions(path: string, before: string, after: string): string {
  const elision = findElisions(after, path).find(({ text }) => !before.includes(text));
  if (elision === undefined || mayBeSecret(path)) return after;
  const { line, text } = elision;
  throw new ToolRefusal(`Line ${line} leaves out code: ${text}. Give the whole code.`);
}
