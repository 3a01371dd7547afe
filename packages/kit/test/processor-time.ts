/**
 * Milliseconds that this thread has computed, of which a busy machine changes little; what it is
 * called with is subtracted.
 */
export function processorTime(since: number = 0): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000 - since;
}
