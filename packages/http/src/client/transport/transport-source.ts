import { HttpUsageError } from "../../errors.ts";
import { optionError } from "../../option-values.ts";
import type { Transport } from "./transport.ts";

/** Source of a client's transport; the platform's is loaded at the first request. */
export class TransportSource {
  #current: Transport | undefined;
  #loading: Promise<Transport> | undefined;
  readonly #isOwn: boolean;
  readonly #parent: TransportSource | undefined;
  #isClosed = false;

  constructor(given: Transport | undefined, parent?: TransportSource) {
    if (given !== undefined && typeof given?.exchange !== "function") {
      throw optionError("transport", given, "a Transport");
    }
    this.#current = given;
    this.#isOwn = given === undefined && parent === undefined;
    this.#parent = parent;
  }

  /** Undefined before the first request, and after the end. */
  get current(): Transport | undefined {
    if (this.#isClosed) return undefined;
    return this.#parent === undefined ? this.#current : this.#parent.current;
  }

  /** Loads the transport. */
  async load(): Promise<Transport> {
    if (this.#isClosed) {
      throw new HttpUsageError("ERR_HTTP_CLIENT_CLOSED", "the client is closed");
    }
    if (this.#parent !== undefined) return this.#parent.load();
    if (this.#current !== undefined) return this.#current;
    this.#loading ??= loadDefault();
    try {
      this.#current = await this.#loading;
      return this.#current;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  /** The same transport for another client, which does not close it. */
  shared(): TransportSource {
    return new TransportSource(undefined, this);
  }

  /** Closes the transport if the client made it. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isOwn) await (await this.#loading)?.close();
  }
}

async function loadDefault(): Promise<Transport> {
  const { defaultTransport } = await import("#default-transport");
  return defaultTransport();
}
