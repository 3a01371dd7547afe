import { isExposedError } from "@fetchwork/kit";

/** Makes a reporter safe: when it throws or rejects itself, that error goes to the standard error and ends nothing. */
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

/** The default reporter of a server: writes to the standard error, exposed errors without their stack. */
export function logError(error: unknown): void {
  console.error(isExposedError(error) ? `${error.name}: ${error.message}` : error);
}
