/** Options of reading. */
export interface ReadOptions {
  /**
   * How old the result may be, in milliseconds: with `replicas`, a replica that is known to be at
   * most that far behind may serve the read. Changes of this process that are younger may be missing.
   * Ignored inside a transaction and on engines without replicas. Default:
   * 0, the state of the primary.
   */
  readonly staleness?: number | undefined;
}
