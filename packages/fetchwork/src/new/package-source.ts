/** Where a project gets the packages of Fetchwork from. */
export type PackageSource = (
  | { readonly kind: "registry" }
  /** Files in the project, by package name. */
  | { readonly kind: "tarballs"; readonly files: ReadonlyMap<string, string> }
) & {
  /** Whether the project brings a Node (190 MB) for development. Default: `false`. */
  readonly pinsNode?: boolean | undefined;
};
