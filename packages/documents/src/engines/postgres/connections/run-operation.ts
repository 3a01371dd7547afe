import { noResult, type Operation, type Result, type Step } from "../../operation.ts";
import type { Session } from "./session.ts";

/** Is told of documents that were added to a collection, or removed from it (negative). */
export type OnAdded = (collection: string, count: number) => void;

/** Runs an operation, statement by statement. */
export async function runOperation<R>(
  session: Session,
  operation: Operation<R>,
  onAdded?: OnAdded,
): Promise<R> {
  let next = operation.next();
  while (next.done !== true) {
    let result: Result;
    try {
      const performed = perform(session, next.value, onAdded);
      result = performed instanceof Promise ? await performed : performed;
    } catch (error) {
      next = operation.throw(error);
      continue;
    }
    next = operation.next(result);
  }
  return next.value;
}

/** Not `async`: many steps need no promise. */
function perform(
  session: Session,
  step: Step,
  onAdded: OnAdded | undefined,
): Promise<Result> | Result {
  switch (step.kind) {
    case "read":
      return session.read(step);
    case "insert":
    case "write":
      return session.write(step);
    case "atomic":
      return session
        .together((joined) => runOperation(joined, step.work(), onAdded))
        .then(() => noResult);
    case "beforeCommit":
      if (session.beforeCommit === undefined) throw new TypeError("there is no transaction");
      session.beforeCommit((last) => runOperation(last, step.work(), onAdded));
      return noResult;
    case "added":
      onAdded?.(step.collection, step.count);
      return noResult;
    case "recorded":
      return noResult;
    default:
      // The number of documents is only kept for collections that ask for it.
      if (step.statement === undefined) return { rows: [], count: -1 };
      return session
        .read(step.statement)
        .then(({ rows }) => ({ rows: [], count: Number(rows[0]?.[0]) }));
  }
}
