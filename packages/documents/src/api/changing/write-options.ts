/** Conditions under which a change is made. */
export interface WriteOptions {
  /**
   * The version that the document must have; else the operation rejects with a `VersionError`. A
   * document as it was read stands for its version and for when it was added: another one that was
   * added with its id later is refused too. Default: any version.
   */
  readonly ifVersion?:
    number | { readonly version: number; readonly createdAt: string } | undefined;
  /**
   * The token of a lease that must still be held; else the operation rejects with
   * `ERR_DOCUMENTS_LEASE`. Default: none.
   */
  readonly lease?: string | undefined;
}
