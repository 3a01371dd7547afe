import { Duplex } from "node:stream";

/**
 * Takes the place of the connection, which an application's request does not have. It has the
 * addresses, and destroying it ends the exchange; what is written to it is dropped.
 */
export class ApplicationSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remoteFamily: string | undefined;
  readonly remotePort: number;
  readonly localAddress: string | undefined;
  readonly localPort: number;
  readonly encrypted: boolean;
  readonly bytesRead: number;
  readonly bytesWritten: number;

  /** @param protocol - `http:` or `https:` */
  constructor(remoteAddress: string | undefined, protocol: string) {
    super({ emitClose: true });
    this.remoteAddress = remoteAddress;
    this.remoteFamily =
      remoteAddress === undefined ? undefined : remoteAddress.includes(":") ? "IPv6" : "IPv4";
    this.remotePort = 0;
    this.localAddress = undefined;
    this.localPort = 0;
    this.encrypted = protocol === "https:";
    this.bytesRead = 0;
    this.bytesWritten = 0;
    // The response learns of errors through "close".
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
    // There is nothing to read.
  }

  override _write(_chunk: unknown, _encoding: string, callback: () => void): void {
    callback();
  }
}
