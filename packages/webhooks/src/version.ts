/** The version of this package; part of the default `user-agent` of a sender. */
export const VERSION = "0.1.0";
