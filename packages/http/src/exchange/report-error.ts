import { isExposedError } from "@fetchwork/kit";

/** Makes a reporter safe: its own errors go to the standard error and end nothing. */
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

/** Default reporter of a server: the standard error; exposed errors without stack. */
export function logError(error: unknown): void {
  console.error(isExposedError(error) ? `${error.name}: ${error.message}` : error);
}
