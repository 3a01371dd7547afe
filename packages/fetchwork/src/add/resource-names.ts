import { UsageError } from "../usage-error.ts";

/** A resource's names in all their forms. */
export interface ResourceNames {
  /** `blogPost`: in sources and in the names of operations. */
  readonly camel: string;
  /** `BlogPost`: its type. */
  readonly pascal: string;
  /** `blog-post`: its folder. */
  readonly kebab: string;
  /** `/blog-posts`. */
  readonly path: string;
  /** `blog posts`: in sentences. */
  readonly plural: string;
}

/** Names that would hide what the project has, or that JavaScript keeps for itself. */
const reserved = new Set([
  ..."auth session password-reset social webhook resource route model controller index api".split(
    " ",
  ),
  ..."docs metric health ping openapi-json".split(" "),
  ..."await break case catch class const continue debugger default delete do else enum export".split(
    " ",
  ),
  ..."extends false finally for function if implements import in instanceof interface let new".split(
    " ",
  ),
  ..."null package private protected public return static super switch this throw true try".split(
    " ",
  ),
  ..."typeof undefined var void while with yield arguments eval async of z".split(" "),
  ..."object string number boolean symbol constructor prototype proto error promise".split(" "),
]);

/**
 * Makes the names of a resource from one in kebab or camel case.
 *
 * @param path overrides what is made of the plural
 * @throws UsageError
 */
export function namesOf(name: string, path?: string): ResourceNames {
  if (!/^[a-z][a-z\d]*(?:[A-Z-][a-z\d]+)*$/.test(name) || name.length > 30) {
    throw new UsageError(
      `${JSON.stringify(name)} is no name of a resource: one thing in at most 30 letters and digits, such as article or blog-post`,
    );
  }
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (reserved.has(kebab)) throw new UsageError(`the name ${kebab} is reserved`);
  const camel = kebab.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const plural = pluralOf(kebab);
  if (path !== undefined && !/^(?:\/[a-z][a-z\d-]{0,39})+$/.test(path)) {
    throw new UsageError(`--path ${JSON.stringify(path)} is none: it is like /articles`);
  }
  const taken = /^\/(?:auth|users|webhooks|password-resets|docs|metrics|health|ping|api)(?:\/|$)/;
  if (taken.test(path ?? `/${plural}`) && kebab !== "user") {
    throw new UsageError(`the path ${path ?? `/${plural}`} is taken`);
  }
  return {
    camel,
    pascal: camel.charAt(0).toUpperCase() + camel.slice(1),
    kebab,
    path: path ?? `/${plural}`,
    plural: plural.replaceAll("-", " "),
  };
}

/** `category` gives `categories`; for what this does not know there is `--path`. */
function pluralOf(word: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
