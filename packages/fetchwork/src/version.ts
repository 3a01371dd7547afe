/** The version of this command; all packages share it. */
export const VERSION = "0.1.0";
