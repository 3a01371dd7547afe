/** Exit codes that every command shares; a command may add its own from 3 on. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
