import type { MessagePort } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { createStamps } from "../../../document/stamps.ts";
import { readPlanned, type ReadResult } from "../../operations/find.ts";
import type { Connection } from "../connection/connection.ts";
import { openReadingConnection } from "../connection/open-reader.ts";
import { runReading } from "../connection/run-operation.ts";
import { resultCode } from "../connection/sqlite-error.ts";
import { SqliteLayout } from "../statements/layout.ts";
import type { Failure, Job, Part } from "./slow-reads.ts";

/** Rows of one message: about as long as the main thread may be held up. */
const rowsPerPart = 500;

/** Responds to the reads that come in, each in parts that are asked for one by one, until "end". */
export function serveSlowReads(port: MessagePort, path: string): void {
  const stamps = createStamps();
  let connection: Connection | undefined;
  let rest: ReadResult = { rows: [], count: 0 };
  let sent = 0;

  function read({ definition, plan }: Job): ReadResult {
    const reading = (connection ??= openReadingConnection(path));
    const layout = new SqliteLayout(definition, stamps);
    return reading.atOneMoment(() => runReading(reading, readPlanned(layout, plan)));
  }

  function nextPart(): Part {
    const rows = rest.rows.slice(sent, sent + rowsPerPart);
    sent += rows.length;
    if (sent < rest.rows.length) return { rows };
    const last = { ...rest, rows };
    rest = { rows: [], count: 0 };
    return last;
  }

  port.on("message", (message: unknown) => {
    if (message === "end") {
      connection?.close();
      port.close();
      return;
    }
    if (isJob(message)) {
      try {
        rest = read(message);
        sent = 0;
      } catch (error) {
        port.postMessage(toFailure(error));
        return;
      }
    }
    port.postMessage(nextPart());
  });
}

function isJob(message: unknown): message is Job {
  return isObject(message) && isObject(message["definition"]) && isObject(message["plan"]);
}

/** The error of SQLite itself; the thread that receives it makes an error of this package of it. */
function toFailure(error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return {
    message: cause instanceof Error ? cause.message : String(cause),
    errcode: resultCode(cause),
  };
}
