/** Resolves when everything that is ready has run; a body that was given whole has been read by then. */
export function endOfTurn(): Promise<undefined> {
  return new Promise((resolve) => {
    const { setImmediate = setTimeout } = globalThis as {
      readonly setImmediate?: (callback: () => void) => unknown;
    };
    setImmediate(() => resolve(undefined));
  });
}
