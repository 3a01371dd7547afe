/** @typedef {readonly [kind: string, text: string]} Token */

const words = {
  js: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface let namespace new null of override private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
  py: "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
  c: "auto bool break case catch char class const continue default defer delete do double else enum extern false final float fn for func go goto if impl import inline int interface let long loop map match mod mut namespace new nil null nullptr override package private protected pub public range return self short signed sizeof static str string struct super switch template this throw trait true try type typedef union unsigned use using var virtual void volatile where while",
  sh: "case do done elif else esac export fi for function if in local return then until while",
  sql: "ADD ALTER AND AS ASC BEGIN BY CASE COMMIT CREATE DEFAULT DELETE DESC DISTINCT DROP ELSE END EXISTS FOREIGN FROM GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER PRIMARY REFERENCES SELECT SET TABLE THEN UNION UNIQUE UPDATE VALUES WHEN WHERE",
  none: "true false null yes no on off",
};

const strings = {
  js: String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\`(?:[^\`\\]|\\[^])*\`?`,
  py: String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`,
  plain: String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`,
};

const slashes = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`;
const hash = String.raw`(?<![\w$&])#[^\n]*`;
const number = String.raw`\b(?:0[xbo][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\w*\b`;
const name = String.raw`[A-Za-z_$][\w$]*`;

/**
 * @param {string} comment
 * @param {string} string
 * @param {string} list
 */
function language(comment, string, list) {
  const pattern = new RegExp(`(${comment})|(${string})|(${number})|(${name})`, "gi");
  return { pattern, known: new Set(list.split(" ")), markup: false };
}

const markup = {
  pattern: new RegExp(
    String.raw`(<!--[^]*?(?:-->|$))|("[^"<>]*"|'[^'<>]*')|(<!?\/?[A-Za-z][\w:-]*|\/?>)|([A-Za-z_:@][\w:.@-]*(?==))`,
    "g",
  ),
  known: new Set(),
  markup: true,
};

const js = language(slashes, strings.js, words.js);
const c = language(slashes, strings.plain, words.c);
const shell = language(hash, strings.plain, words.sh);
const data = language(hash, strings.plain, words.none);
const languages = new Map(
  Object.entries({
    js,
    mjs: js,
    cjs: js,
    jsx: js,
    ts: js,
    mts: js,
    cts: js,
    tsx: js,
    json: js,
    css: language(slashes, strings.plain, "important media supports import from to"),
    py: language(hash, strings.py, words.py),
    c,
    h: c,
    cc: c,
    cpp: c,
    cs: c,
    go: c,
    java: c,
    kt: c,
    php: c,
    rs: c,
    swift: c,
    scala: c,
    sh: shell,
    bash: shell,
    rb: language(hash, strings.plain, words.py),
    sql: language(String.raw`--[^\n]*`, strings.plain, `${words.sql} ${words.sql.toLowerCase()}`),
    yaml: data,
    yml: data,
    toml: data,
    ini: data,
    env: data,
    html: markup,
    htm: markup,
    xml: markup,
    svg: markup,
    vue: markup,
  }),
);

/**
 * Divides source into pieces with a kind each: `comment`, `string`, `number`, `keyword`, `name`, or
 * none. Joined, they are the source.
 *
 * @param {string} source
 * @param {string} path
 * @returns {readonly Token[]}
 */
export function highlight(source, path) {
  const found = languages.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
  // Long lines are nothing that anybody reads, and slow to show in colours.
  if (found === undefined || source.length > 400_000) return [["", source]];
  /** @type {Token[]} */
  const tokens = [];
  let end = 0;
  for (const match of source.matchAll(found.pattern)) {
    const [text, comment, string, digits] = match;
    if (match.index > end) tokens.push(["", source.slice(end, match.index)]);
    end = match.index + text.length;
    if (comment !== undefined) tokens.push(["comment", text]);
    else if (string !== undefined) tokens.push(["string", text]);
    else if (digits !== undefined) tokens.push([found.markup ? "keyword" : "number", text]);
    else if (found.markup) tokens.push(["name", text]);
    else if (found.known.has(text)) tokens.push(["keyword", text]);
    else tokens.push([source[end] === "(" ? "name" : "", text]);
  }
  if (end < source.length) tokens.push(["", source.slice(end)]);
  return tokens;
}

/**
 * The same by lines, without their ends.
 *
 * @param {readonly Token[]} tokens
 * @returns {readonly (readonly Token[])[]}
 */
export function lines(tokens) {
  /** @type {Token[][]} */
  const result = [[]];
  for (const [kind, text] of tokens) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) result.push([]);
      if (part !== "") result.at(-1)?.push([kind, part]);
    }
  }
  if (result.length > 1 && result.at(-1)?.length === 0) result.pop();
  return result;
}
