import type { BoundText, Result, Row } from "../../operation.ts";
import type { Connections } from "./connections.ts";
import type { Session } from "./session.ts";

const retryDelay = 1000;
/** A replica is asked again how far it is when this part of what is allowed has passed. */
const askAgain = 0.5;
const maxMarks = 64;

/** A place in the log of the primary, and a time before which everything is in front of it. */
interface Mark {
  readonly at: number;
  readonly place: bigint;
}

interface Replica {
  readonly connections: Connections;
  /** The replica has everything that was committed before this time. */
  freshAt: number;
  asking: boolean;
  /** Not to be asked before this time. */
  restsUntil: number;
  /** When the server was started that turned out to follow another primary than ours. */
  strayed: Row[number] | undefined;
}

/**
 * Reads from servers that follow the primary, those that are fresh enough.
 *
 * How far behind one is, is measured without clocks of others and without privileges: the place of
 * the primary's log is noted with our time, and a replica that has come by that place has all that
 * was committed until then. It is asked in between, so that a read waits for no replica's answer to
 * that; until it is known to be fresh, and when anything fails, the primary is read.
 */
export class Replicas {
  readonly #primary: Session;
  readonly #replicas: readonly Replica[];
  readonly #marks: Mark[] = [];
  #next = 0;

  constructor(primary: Session, connections: readonly Connections[]) {
    this.#primary = primary;
    this.#replicas = connections.map((own) => {
      return {
        connections: own,
        freshAt: -Infinity,
        asking: false,
        restsUntil: -Infinity,
        strayed: undefined,
      };
    });
  }

  /** Gives the way to read what may be `staleness` milliseconds old. */
  session(staleness: number): Session {
    const primary = this.#primary;
    return {
      read: (statement) => this.#read(statement, staleness),
      write: (statement) => primary.write(statement),
      together: <R>(work: (session: Session) => Promise<R>) => primary.together(work),
    };
  }

  async #read(statement: BoundText, staleness: number): Promise<Result> {
    const replica = this.#choose(staleness);
    if (replica === undefined) return this.#primary.read(statement);
    try {
      return await replica.connections.readOnce(statement);
    } catch {
      // Whether it is down, was too slow to keep what it read, or the statement is wrong: the
      // primary will say.
      this.#rest(replica);
      return this.#primary.read(statement);
    }
  }

  /** Takes one that is fresh enough, in turns, and asks those that soon are not. */
  #choose(staleness: number): Replica | undefined {
    const now = performance.now();
    for (const replica of this.#replicas) {
      const { freshAt } = replica;
      const isDue = freshAt === -Infinity || freshAt < now - staleness * askAgain;
      if (isDue && !replica.asking && replica.restsUntil <= now) void this.#ask(replica);
    }
    const fresh = this.#replicas.filter(
      ({ freshAt }) => freshAt > -Infinity && freshAt >= now - staleness,
    );
    this.#next += 1;
    return fresh[this.#next % fresh.length];
  }

  async #ask(replica: Replica): Promise<void> {
    replica.asking = true;
    try {
      await this.#mark();
      const answer = await replica.connections.readOnce(replayedPosition);
      const place = placeOf(answer);
      const passed = this.#marks.findLast((mark) => place !== undefined && mark.place <= place);
      if (place === undefined || (await this.#isAstray(replica, { place, answer })))
        this.#rest(replica);
      else if (passed !== undefined) replica.freshAt = Math.max(replica.freshAt, passed.at);
    } catch {
      this.#rest(replica);
    } finally {
      replica.asking = false;
    }
  }

  /**
   * Tells whether a replica was in front of the primary: one that was ahead of the server which took
   * over cannot follow it, also when the primary has come by, until it is rebuilt and started.
   */
  async #isAstray(
    replica: Replica,
    { place, answer }: { readonly place: bigint; readonly answer: Result },
  ): Promise<boolean> {
    await this.#mark();
    const now = this.#marks.at(-1);
    const started = answer.rows[0]?.[1];
    if (now !== undefined && now.place < place) replica.strayed = started;
    return replica.strayed !== undefined && replica.strayed === started;
  }

  async #mark(): Promise<void> {
    const at = performance.now();
    const place = placeOf(await this.#primary.read(writtenPosition));
    if (place === undefined) return;
    this.#marks.push({ at, place });
    if (this.#marks.length > maxMarks) this.#marks.shift();
  }

  #rest(replica: Replica): void {
    replica.freshAt = -Infinity;
    replica.restsUntil = performance.now() + retryDelay;
  }
}

const writtenPosition: BoundText = { text: "SELECT pg_current_wal_insert_lsn()", values: [] };
/** Nothing for a server that has become a primary, which may be one that nobody else follows. */
const replayedPosition: BoundText = {
  text:
    "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END, " +
    "pg_postmaster_start_time()",
  values: [],
};

/** Reads a place in the log, as in `16/B374D848`. */
function placeOf({ rows }: Result): bigint | undefined {
  const match = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/.exec(String(rows[0]?.[0] ?? ""));
  if (match === null) return undefined;
  return (BigInt(`0x${match[1]}`) << 32n) + BigInt(`0x${match[2]}`);
}
