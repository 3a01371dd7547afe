import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Fields of a published `package.json` that say where the package is developed. */
export interface RepositoryFields {
  readonly repository: {
    readonly type: "git";
    readonly url: string;
    /** The folder of the package below the root. */
    readonly directory: string;
  };
  readonly homepage: string;
  readonly bugs: { readonly url: string };
}

/**
 * Makes the fields of one package from the `repository` of the root's `package.json`, the only
 * place that has the address. Returns `undefined` where the root has none.
 *
 * @throws TypeError for an address that is not an `https` URL
 */
export function repositoryFields(
  repository: string | undefined,
  directory: string,
): RepositoryFields | undefined {
  if (repository === undefined) return undefined;
  if (!/^https:\/\/[^/]+\/[^?#]*[^/?#]$/.test(repository)) {
    throw new TypeError(
      `repository of package.json must be a URL such as https://github.com/owner/name, got "${repository}"`,
    );
  }
  return {
    repository: { type: "git", url: `git+${repository}.git`, directory },
    homepage: `${repository}/tree/main/${directory}#readme`,
    bugs: { url: `${repository}/issues` },
  };
}

/**
 * Completes the `package.json` of a copy of a package, which is then packed. It gets the fields,
 * and its entries lose the sources, which are not packed.
 */
export function writePublishedManifest(
  copy: string,
  { root, directory }: { readonly root: string; readonly directory: string },
): void {
  const fields = repositoryFields(repositoryOf(root), directory);
  const file = join(copy, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"), withoutSources) as object;
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...fields }, undefined, 2)}\n`);
}

function withoutSources(key: string, value: unknown): unknown {
  return key === "@fetchwork/source" ? undefined : value;
}

/**
 * The `https` URL of the repository, without `.git`. `undefined` as long as it has no public one.
 */
export function repositoryOf(root: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly repository?: string | { readonly url: string };
  };
  const url = typeof repository === "object" ? repository.url : repository;
  return url?.replace(/^git\+/, "").replace(/\.git$/, "");
}
