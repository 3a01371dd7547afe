import {
  DocumentsError,
  DocumentsTypeError,
  openStore,
  type Store,
  type StoreOptions,
} from "@fetchwork/documents";
import { StartError } from "../errors.ts";
import { shownUrl } from "./shown-url.ts";

/** After how many milliseconds a start that waits for a server says so. */
const maxWait = 3_000;

/** How the store of a service is opened. */
export interface DatabaseOptions {
  readonly collections: NonNullable<StoreOptions["collections"]>;
  /** Name of the service, in the lines that are printed while it waits. */
  readonly name: string;
  /** Receives a line for each form of query that no index serves. Default: nothing is said. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Opens the store; one in PostgreSQL is waited for, as it may be starting too. For development,
 * `warn` receives a line for each form of query that no index serves. That costs time when it is
 * first run.
 *
 * @throws StartError that names the setting or the file at fault.
 */
export async function openDatabase(
  url: string,
  { collections, name, warn }: DatabaseOptions,
): Promise<Store> {
  const waiting = setTimeout(() => {
    if (!url.startsWith("sqlite:")) console.error(`${name}: waiting for ${shownUrl(url)}`);
  }, maxWait);
  try {
    return await openStore(url, {
      collections,
      ...(warn && { onUnindexedQuery: ({ warnings }) => warn(warnings.join("; ")) }),
    });
  } catch (error) {
    if (error instanceof DocumentsTypeError && error.code === "ERR_DOCUMENTS_OPTIONS") {
      throw new StartError(`DATABASE_URL: ${error.message}`, { cause: error });
    }
    if (error instanceof DocumentsError) {
      const place = shownUrl(url).replace(/^sqlite:/, "");
      const message = error.message.includes(place) ? error.message : `${place}: ${error.message}`;
      throw new StartError(`DATABASE_URL: ${message}`, { cause: error });
    }
    throw error;
  } finally {
    clearTimeout(waiting);
  }
}
