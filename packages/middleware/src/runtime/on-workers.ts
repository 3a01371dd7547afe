/** Whether this is a worker of Cloudflare, where what a request has not waited for ends with it. */
export function onWorkers(): boolean {
  return globalThis.navigator?.userAgent === "Cloudflare-Workers";
}
