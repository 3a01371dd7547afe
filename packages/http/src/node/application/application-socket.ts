import { Duplex } from "node:stream";

/** What an application may ask of the connection of its request. */
export interface SocketFacts {
  readonly remoteAddress: string | undefined;
  readonly encrypted: boolean;
}

/**
 * Stands for the connection of a request that has none of its own. It has the addresses, and can be destroyed,
 * which ends the exchange; what is written to it goes nowhere.
 */
export class ListenerSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remoteFamily: string | undefined;
  readonly remotePort: number;
  readonly localAddress: string | undefined;
  readonly localPort: number;
  readonly encrypted: boolean;
  readonly bytesRead: number;
  readonly bytesWritten: number;

  constructor(facts: SocketFacts) {
    super({ emitClose: true });
    const { remoteAddress } = facts;
    this.remoteAddress = remoteAddress;
    this.remoteFamily =
      remoteAddress === undefined ? undefined : remoteAddress.includes(":") ? "IPv6" : "IPv4";
    this.remotePort = 0;
    this.localAddress = undefined;
    this.localPort = 0;
    this.encrypted = facts.encrypted;
    this.bytesRead = 0;
    this.bytesWritten = 0;
    // Its errors are the exchange's; the response hears of them through "close".
    this.on("error", () => undefined);
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    this.destroy();
  }

  address(): object {
    return {};
  }

  override _read(): void {
    // Never has anything to read.
  }

  override _write(_chunk: unknown, _encoding: string, callback: () => void): void {
    callback();
  }
}
