/** A place where a model left code out and wrote so in a comment. */
export interface Elision {
  /** From 1. */
  readonly line: number;
  /** The comment, at most 120 characters. */
  readonly text: string;
}

const comment =
  /^\s{0,200}(?:\/\/+|#+(?!!)|--|\/\*+|\*(?!\/)|<!--|;+|%+|\{\s?\/\*+|""")\s{0,20}(.{0,300})$/;
const dots = /(?:\.{3,}|…)/;
const whatIsLeft =
  /\b(?:rest|remainder|remaining|existing|previous|other|unchanged|same|omitted|as before|the original)\b/i;
const ofCode =
  /\b(?:code|file|files|functions?|methods?|implementations?|logic|content|contents|classes|class|styles?|rules|markup|imports?|tests?|handlers?|unchanged|omitted|before|above|here)\b/i;
const spelledOut =
  /\b(?:rest of (?:the |your |this )?(?:\w+ )?(?:code|file|function|implementation|component|class|logic|styles?) (?:here|(?:remains?|stays?|is|goes) (?:the same|unchanged|here|as before|omitted)|unchanged|as before|omitted|below)|(?:(?:your|add|insert|put) (?:\w+ ){0,3}(?:code|logic|implementation) (?:goes )?here)|(?:code|implementation|logic) (?:goes here|omitted|unchanged|remains unchanged|stays the same))\b/i;

/**
 * Finds comments that stand for code that was left out ("... rest of the code stays the same", "//
 * ..."). A file with one is not whole. Markdown may show shortened code; nothing is looked for in
 * it.
 */
export function findElisions(code: string, filePath: string): readonly Elision[] {
  if (/\.(?:md|mdx|markdown|txt|json)$/i.test(filePath)) return [];
  return code.split("\n").flatMap((line, index) => {
    const remark = comment
      .exec(line.slice(0, 500))?.[1]
      ?.replace(/(?:\*\/\}?|-->|""")\s*$/, "")
      .trim();
    if (remark === undefined || !isElision(remark)) return [];
    return [{ line: index + 1, text: remark.slice(0, 120) }];
  });
}

function isElision(remark: string): boolean {
  if (/^(?:\.{3,}|…)$/.test(remark)) return true;
  if (spelledOut.test(remark)) return true;
  // The dots have to be at an end of the sentence: "wait ... the other file" explains something.
  const atEnd = /^(?:\.{3,}|…)|(?:\.{3,}|…)\)?$/.test(remark);
  return atEnd && dots.test(remark) && whatIsLeft.test(remark) && ofCode.test(remark);
}
