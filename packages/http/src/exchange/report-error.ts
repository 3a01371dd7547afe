import { isExposedError } from "@fetchwork/kit";

/** Guards what a caller reports to: what that throws or rejects with goes to the standard error, and ends nothing. */
export function guardedReport(report: (error: unknown) => unknown): (error: unknown) => void {
  return (error) => {
    try {
      const reported = report(error);
      if (reported instanceof Promise) {
        reported.catch((failure: unknown) => console.error(failure));
      }
    } catch (failure) {
      console.error(failure);
    }
  };
}

/** Where a server reports by default: the standard error. What became a response has no stack there. */
export function logError(error: unknown): void {
  console.error(isExposedError(error) ? `${error.name}: ${error.message}` : error);
}
