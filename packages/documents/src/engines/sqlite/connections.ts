import type { BuildAway } from "./building.ts";
import type { Connection } from "./connection/connection.ts";
import type { MaintenanceTask } from "./threads/maintenance.ts";
import type { SlowReads } from "./threads/slow-reads.ts";

/** The two connections to one file, and what to do after they are closed. */
export interface Connections {
  readonly writer: Connection;
  readonly reader: Connection;
  /** Does a task on the file, in another thread where it can open the file. */
  readonly maintain: (task: MaintenanceTask) => Promise<readonly string[]>;
  /** Builds what collections need in another thread, where that can open the file. */
  readonly buildAway?: BuildAway;
  /** Does reads that take long, where another thread can open the file. */
  readonly slowReads?: SlowReads;
  /** Opens another connection that reads, where the file has a name. */
  readonly openReader?: () => Connection;
  release(): void;
}
