import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../scripts/workspace-packages.ts";

/** Where the links of a page lead on the site. */
export interface LinkTargets {
  /** Pages by the Markdown file that they are made of. */
  readonly pages: ReadonlyMap<string, string>;
  /** URL of the repository, for links to other files; without one they are shown as code. */
  readonly repository: string | undefined;
}

/** Code, which stays as it is, or a link: `[text](target)` with an optional `!`. */
const codeOrLink =
  /^(?<fence>`{3,})[^]*?^\k<fence>[ \t]*$|(?<ticks>`+)[^]*?[^`]\k<ticks>(?!`)|(?<image>!?)\[(?<text>(?:`[^`]*`|\\.|[^[\]`\\])*)\]\(<?(?<target>[^)\s>]+)>?(?<title>[^)]*)\)/gm;

/**
 * Writes the links of a Markdown file for its page on the site: to pages of the site, to pictures,
 * which `onPicture` receives, to the repository, or as code. Throws when a file that it links to
 * does not exist.
 */
export function moveLinks(
  markdown: string,
  source: string,
  targets: LinkTargets,
  onPicture: (file: string) => void,
): string {
  const from = posix.dirname(targets.pages.get(source) ?? source);
  return markdown.replace(codeOrLink, (match: string, ...rest: unknown[]) => {
    const { image = "", text = "", target, title = "" } = rest.at(-1) as Record<string, string>;
    if (target === undefined || /^(?:[a-z][a-z\d+.-]*:|#|\/)/i.test(target)) return match;
    const [path = "", anchor] = target.split("#");
    const file = posix
      .join(posix.dirname(source), decodeURIComponent(path))
      // The blog is a made project too: it finds the packages where npm installs them.
      .replace(/^(?:.*\/)?node_modules\/@fetchwork\//, "packages/");
    const page = targets.pages.get(file) ?? targets.pages.get(posix.join(file, "README.md"));
    const fragment = anchor === undefined ? "" : `#${anchor}`;
    if (page !== undefined) {
      return `${image}[${text}](${relativePath(from, page)}${fragment}${title})`;
    }
    if (!existsSync(join(root, file)))
      throw new Error(`${source} links to ${target}: no such file`);
    if (image !== "" || /\.(?:svg|png)$/.test(file)) {
      onPicture(file);
      return `${image}[${text}](${relativePath(from, `pictures/${posix.basename(file)}`)}${title})`;
    }
    if (targets.repository !== undefined) {
      return `[${text}](${targets.repository}/blob/main/${file}${fragment}${title})`;
    }
    return text.replaceAll("`", "") === file ? `\`${file}\`` : `${text} (\`${file}\`)`;
  });
}

/** A path that is relative for all readers of Markdown: `./x.md`, `../x.md`. */
function relativePath(from: string, to: string): string {
  const path = posix.relative(from, to);
  return path.startsWith(".") ? path : `./${path}`;
}
