/** A transfer that the service acknowledged. */
export interface KnownTransfer {
  readonly from: number;
  readonly to: number;
  readonly cents: number;
}

/** A note as the service acknowledged it last. */
export interface KnownNote {
  readonly reference: string;
  readonly text: string;
  readonly mood: string | undefined;
  /** Of its last version. */
  readonly etag: string | undefined;
}

/** What the service promised the clients: what must be there in the end, and what must not. */
export class Ledger {
  /** By reference. */
  readonly transfers = new Map<string, KnownTransfer>();
  /** By identifier. */
  readonly notes = new Map<string, KnownNote>();
  /** Identifiers of the notes that were created, and of those that were removed. */
  readonly created = new Set<string>();
  readonly removed = new Set<string>();
  /** References of what was refused, where no earlier attempt may have been accepted. */
  readonly refused = new Set<string>();
  /** How often each thing happened, for the summary. */
  readonly counts = new Map<string, number>();
  /** What went wrong. */
  readonly differences: string[] = [];

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  differs(what: string): void {
    this.differences.push(`${new Date().toISOString()} ${what}`);
  }
}
