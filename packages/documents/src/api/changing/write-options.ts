/** Conditions under which a change is made. */
export interface WriteOptions {
  /**
   * The version that the document must have; else the operation rejects with a `VersionError`.
   * Default: any version.
   */
  readonly ifVersion?: number | undefined;
  /**
   * The token of a lease that must still be held; else the operation rejects with
   * `ERR_DOCUMENTS_LEASE`. Default: none.
   */
  readonly lease?: string | undefined;
}
