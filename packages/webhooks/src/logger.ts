/** Receives what happens. `console` is one. */
export interface Logger {
  debug(message: unknown, ...details: unknown[]): void;
  info(message: unknown, ...details: unknown[]): void;
  warn(message: unknown, ...details: unknown[]): void;
  error(message: unknown, ...details: unknown[]): void;
}

/** Does nothing. Lets callers see that a message would go nowhere. */
export function silent(): void {}

/** Completes a logger without changing it: `debug` and `info` do nothing, `warn` and `error` go to the console. */
export function completeLogger(log: Partial<Logger> = {}): Logger {
  return {
    debug: log.debug?.bind(log) ?? silent,
    info: log.info?.bind(log) ?? silent,
    warn: log.warn?.bind(log) ?? ((...all) => console.warn(...all)),
    error: log.error?.bind(log) ?? ((...all) => console.error(...all)),
  };
}
