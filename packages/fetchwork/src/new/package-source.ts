/** Where a project gets the packages of Fetchwork from. */
export type PackageSource = (
  | { readonly kind: "registry" }
  /** An example of the repository. */
  | { readonly kind: "workspace" }
  /** Files in the project, by package name. */
  | { readonly kind: "tarballs"; readonly files: ReadonlyMap<string, string> }
) & {
  /** Whether the project brings its Node. Default: `false`. */
  readonly pinsNode?: boolean | undefined;
};
