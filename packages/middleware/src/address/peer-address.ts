import { formatIP, parseIP, type IPAddress } from "@fetchwork/kit";

/** Address of the other end of a connection, as it was spelled and as a number. */
export interface PeerAddress {
  readonly text: string;
  readonly address: IPAddress;
}

/** Reads a connection's address as runtimes write it: port, brackets, IPv6 zone. */
export function parsePeer(peer: string | undefined): PeerAddress | undefined {
  if (peer === undefined) return undefined;
  const direct = parseIP(peer);
  if (direct !== undefined) return { text: spell(peer, direct), address: direct };
  const bare = withoutPort(peer).replace(/%[^%]*$/, "");
  const address = parseIP(bare);
  return address === undefined ? undefined : { text: spell(bare, address), address };
}

/** The spelling that is kept, but for an IPv4 address mapped into IPv6, which becomes IPv4. */
export function spell(text: string, address: IPAddress): string {
  return address.version === 4 && text.includes(":") ? formatIP(address) : text;
}

function withoutPort(peer: string): string {
  return (
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(peer)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(peer)?.[1] ?? peer
  );
}
