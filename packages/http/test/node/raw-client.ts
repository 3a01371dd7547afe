import { connect, type Socket } from "node:net";

/** A client that sends exactly what it is told to. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves when the server has closed the connection, with all that it sent. */
  readonly closed: Promise<string>;
  #received = "";
  #wake: () => void = () => undefined;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("latin1");
    this.socket.on("data", (chunk: string) => {
      this.#received += chunk;
      this.#wake();
    });
    this.socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        resolve(this.#received);
        this.#wake();
      });
    });
  }

  send(text: string): void {
    this.socket.write(text, "latin1");
  }

  /** Waits until what has arrived matches, and returns it. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.socket.closed) throw new Error(`closed after ${JSON.stringify(this.#received)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#received;
  }

  /** Resets the connection. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Sends one request and returns everything up to the end of the connection. */
export async function exchange(port: number, request: string): Promise<string> {
  const client = new RawClient(port);
  client.send(request);
  return client.closed;
}
