/** Options of reading. */
export interface ReadOptions {
  /**
   * How old the answer may be, in milliseconds: with `replicas`, a replica that is known to be no
   * further behind than that may give it. Changes of this process that are younger may be missing.
   * Inside of a transaction, and on engines without replicas, everything is read as it is. Default:
   * 0, the state of the primary.
   */
  readonly staleness?: number | undefined;
}
