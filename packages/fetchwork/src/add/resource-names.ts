import { CommandUsageError } from "../command/usage-error.ts";
import { deviceName } from "../files/device-name.ts";

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

/** Words that JavaScript reserves. */
export const keywords: ReadonlySet<string> = new Set([
  ..."await break case catch class const continue debugger default delete do else enum export".split(
    " ",
  ),
  ..."extends false finally for function if implements import in instanceof interface let new".split(
    " ",
  ),
  ..."null package private protected public return static super switch this throw true try".split(
    " ",
  ),
  ..."typeof undefined var void while with yield arguments eval async of".split(" "),
]);

/** Names that the project uses itself or that JavaScript reserves. */
const reserved = new Set([
  ...keywords,
  ..."auth session password-reset social webhook resource route model controller index api".split(
    " ",
  ),
  ..."docs metric health ping openapi-json z define-resource document-of".split(" "),
  ..."object string number boolean symbol constructor prototype proto error promise".split(" "),
]);

/**
 * Makes the names of a resource from one in kebab or camel case.
 *
 * @param path replaces the path derived from the plural
 * @throws CommandUsageError
 */
export function namesOf(name: string, path?: string): ResourceNames {
  if (!/^[a-z][a-z\d]*(?:[A-Z-][a-z\d]+)*$/.test(name) || name.length > 30) {
    throw new CommandUsageError(
      `invalid resource name ${JSON.stringify(name)}: expected a singular of at most 30 letters and digits, such as article or blog-post`,
    );
  }
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const camel = camelOf(kebab);
  const plural = pluralOf(kebab);
  if (reserved.has(kebab) || deviceName.test(kebab))
    throw new CommandUsageError(
      `the name ${kebab} is reserved: use another, with --path /${plural} to keep the path`,
    );
  if (path !== undefined && !/^(?:\/[a-z][a-z\d-]{0,39})+$/.test(path)) {
    throw new CommandUsageError(
      `invalid path ${JSON.stringify(path)}: expected something like /articles`,
    );
  }
  const taken = /^\/(?:auth|users|webhooks|password-resets|docs|metrics|health|ping|api)(?:\/|$)/;
  if (taken.test(path ?? `/${plural}`) && kebab !== "user") {
    throw new CommandUsageError(`the path ${path ?? `/${plural}`} is reserved`);
  }
  return {
    camel,
    pascal: camel.charAt(0).toUpperCase() + camel.slice(1),
    kebab,
    path: path ?? `/${plural}`,
    plural: plural.replaceAll("-", " "),
  };
}

/** Writes a name in camel case: `blog-post` becomes `blogPost`. */
export function camelOf(kebab: string): string {
  return kebab.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the singular of a name that looks like an English plural: `blogPost` of `blogPosts`. */
export function singularOf(name: string): string | undefined {
  const last = /[A-Z]?[a-z\d]*$/.exec(name)?.[0].toLowerCase() ?? "";
  if (!last.endsWith("s") || /(?:ss|us|is)$/.test(last) || singularsWithS.has(last)) {
    return undefined;
  }
  if (/(?:ss|x|z|ch|sh)es$/.test(last)) return name.slice(0, -2);
  if (/[^aeiou]ies$/.test(last) && !pluralsOfIe.has(last)) return `${name.slice(0, -3)}y`;
  return last.length > 1 ? name.slice(0, -1) : undefined;
}

const singularsWithS = new Set(
  "alias atlas bias canvas chaos gas lens means news series species".split(" "),
);
const pluralsOfIe = new Set("calories cookies movies pies rookies selfies ties zombies".split(" "));

/** Forms a plural: `category` becomes `categories`. `--path` serves irregular ones. */
function pluralOf(word: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
