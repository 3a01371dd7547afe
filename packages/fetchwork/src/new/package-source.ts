/**
 * Where a project takes the packages of Fetchwork from: the registry, tarballs in its own folder (by name, as
 * `package.json` names them), or the workspace that it is part of.
 */
export type PackageSource =
  | { readonly kind: "registry" }
  | { readonly kind: "workspace" }
  | { readonly kind: "tarballs"; readonly files: ReadonlyMap<string, string> };
