/** Receives log messages; `console` is one. */
export interface Logger {
  debug(message: unknown, ...details: unknown[]): void;
  info(message: unknown, ...details: unknown[]): void;
  warn(message: unknown, ...details: unknown[]): void;
  error(message: unknown, ...details: unknown[]): void;
}

type Write = (message: unknown, ...details: unknown[]) => void;

/**
 * Completes a logger without changing it. Errors and rejections of its methods are dropped: a log
 * that fails must not fail the work that is logged.
 *
 * @param logger - Any of the methods; they are called as methods of this object.
 * @param defaults - Functions for the missing methods. The result has these functions themselves.
 */
export function guardLogger(
  logger: Partial<Logger>,
  defaults: Readonly<Record<keyof Logger, Write>>,
): Logger {
  return {
    debug: guard(logger.debug?.bind(logger)) ?? defaults.debug,
    info: guard(logger.info?.bind(logger)) ?? defaults.info,
    warn: guard(logger.warn?.bind(logger)) ?? defaults.warn,
    error: guard(logger.error?.bind(logger)) ?? defaults.error,
  };
}

function guard(write: Write | undefined): Write | undefined {
  if (write === undefined) return undefined;
  return (...entry) => {
    try {
      const written: unknown = write(...entry);
      if (written !== undefined) Promise.resolve(written).catch(ignore);
    } catch {
      // See above.
    }
  };
}

function ignore(): void {}
