const ipv4 = /^(.*:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/;

/**
 * Takes from an address what identifies one client: the last number of IPv4 (`12.34.56.78` is `12.34.56.0`, also inside
 * IPv6), all but the first 48 bits of IPv6. Text that is no address stays.
 */
export function anonymizeIP(ip: string): string {
  const v4 = ipv4.exec(ip);
  if (v4 !== null) return `${v4[1] ?? ""}${v4[2]}.0`;
  if (!/^[\da-f:]+(%.*)?$/i.test(ip) || !ip.includes(":")) return ip;
  const [head = "", tail] = (ip.split("%")[0] ?? "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after].slice(0, 3);
  while (groups.length > 0 && /^0*$/.test(groups.at(-1) ?? "")) groups.pop();
  return `${groups.join(":")}::`;
}
