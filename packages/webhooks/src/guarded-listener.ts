import { isThenable } from "./thenable.ts";

/** Makes a listener that never throws: what the given one throws, now or as a promise, goes elsewhere. */
export function guardedListener<T>(
  listener: (value: T) => unknown,
  onFailure: (error: unknown) => void,
): (value: T) => void {
  return (value) => {
    try {
      const result = listener(value);
      if (isThenable(result)) result.then(undefined, onFailure);
    } catch (error) {
      onFailure(error);
    }
  };
}
