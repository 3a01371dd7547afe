import { parseArgs } from "node:util";

/** How a part is asked to measure. */
export interface Settings {
  /** Exactly so many; without, as many as the spread needs. */
  readonly rounds: number | undefined;
  /** A fourth of the time, and less steady figures. */
  readonly isQuick: boolean;
  /** Where the results go, as JSON. */
  readonly file: string | undefined;
  /** What else was said, after the rounds. */
  readonly others: readonly string[];
}

/** Reads `[rounds] [others] [--rounds N] [--quick] [--json FILE]`. */
export function readSettings(args: readonly string[]): Settings {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
    },
  });
  const [first, ...others] = positionals;
  const rounds = values.rounds ?? first;
  if (rounds !== undefined && !/^[1-9]\d{0,3}$/.test(rounds))
    throw new TypeError(`rounds must be a number of at least 1, not ${rounds}`);
  return {
    rounds: rounds === undefined ? undefined : Number(rounds),
    isQuick: values.quick,
    file: values.json,
    others,
  };
}
