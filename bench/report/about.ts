/** Which rows are meant; what is not said means all. */
export interface Selection {
  readonly groups?: readonly string[];
  readonly works?: readonly string[];
  readonly units?: readonly string[];
  /** Names of rows. */
  readonly rows?: readonly string[];
}

/** What the figures should reach. */
export interface Target {
  /** As in "at most the CPU time of Express". */
  readonly text: string;
  readonly where: Selection;
  /** Of each row its ratio, ours over theirs, or its value. */
  readonly of: "ratio" | "value";
  readonly atMost: number;
}

/** Why something costs more than what it is compared with, in plain words and without figures. */
export interface Explanation {
  readonly where: Selection;
  readonly text: string;
}

/** The text about a part in addition to its figures. */
export interface About {
  /** The name of its folder. */
  readonly part: string;
  readonly title: string;
  /** For Node. */
  readonly flags?: readonly string[];
  /** After so many minutes it hangs, and is ended: far more than a full run takes. */
  readonly minutes: number;
  readonly targets: readonly Target[];
  /** What counts for the picture of all ratios. Default: all CPU times. */
  readonly overview?: Selection;
  /** The first that is meant counts. */
  readonly explanations: readonly Explanation[];
}
