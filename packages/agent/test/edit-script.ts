import type { ScriptedAnswer } from "./model-server.ts";

/** A change of a file: a part of it, or all of it. */
export type ScriptedEdit =
  | { readonly path: string; readonly search: string; readonly replace: string }
  | { readonly path: string; readonly content: string };

/** Reads what is changed, calls for edits in one answer, and then says that they are done. */
export function editScript(
  edits: readonly ScriptedEdit[],
  match: readonly string[] = [],
): readonly ScriptedAnswer[] {
  const paths = [...new Set(edits.map(({ path }) => path))];
  const calls = [
    ...paths.map((path) => ({ name: "read", arguments: { path } })),
    ...edits.map((edit) => ({ name: "content" in edit ? "write" : "edit", arguments: edit })),
  ];
  return [
    { tool: "edit", last: "user", match, calls },
    { tool: "edit", last: "tool", match, text: "It is done." },
  ];
}
