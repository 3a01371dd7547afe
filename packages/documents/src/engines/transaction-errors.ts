import { DocumentsError } from "../api/errors.ts";

/** Reports work for a transaction that is over. */
export function overError(): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_TRANSACTION", "the transaction is over");
}

/** Reports a transaction inside of another one. */
export function nestedError(): DocumentsError {
  const message = "a transaction cannot contain another one";
  return new DocumentsError("ERR_DOCUMENTS_TRANSACTION", message);
}

/** Reports a change through the store itself by code that runs inside of a transaction. */
export function changeInsideError(): DocumentsError {
  return new DocumentsError(
    "ERR_DOCUMENTS_TRANSACTION",
    "a change inside a transaction must go through the transaction, not through the store",
  );
}

/** Resolves as work does, or rejects when it takes longer than `left` of `timeout` milliseconds. */
export async function withinTime<R>(
  { timeout, left = timeout }: { readonly timeout: number; readonly left?: number },
  work: () => Promise<R>,
): Promise<R> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const expire = (): void => {
    reject(
      new DocumentsError(
        "ERR_DOCUMENTS_TIMEOUT",
        `the transaction took longer than ${timeout} ms and was rolled back`,
      ),
    );
  };
  const timer = setTimeout(expire, Math.max(0, left));
  try {
    return await Promise.race([work(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
