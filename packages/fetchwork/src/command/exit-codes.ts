/** Exit codes that every command shares; a command may add its own from 3 on. */
export const exitCodes: {
  readonly ok: 0;
  readonly failed: 1;
  readonly usage: 2;
  readonly interrupted: 130;
} = { ok: 0, failed: 1, usage: 2, interrupted: 130 };
