import {
  DocumentsError,
  DocumentsTypeError,
  openStore,
  type Store,
  type StoreOptions,
} from "@fetchwork/documents";
import { about } from "../about.ts";
import { shownUrl } from "./shown-url.ts";
import { StartError } from "./start-error.ts";

/** After how many milliseconds a start that waits for a server says so. */
const patience = 3_000;

/**
 * Opens the store; one in PostgreSQL is waited for, as it may be starting too. `warn` receives a line for each form of
 * query that no index serves, which costs time when it is first run: for development.
 *
 * @throws StartError that names the setting or the file at fault.
 */
export async function openDatabase(
  url: string,
  collections: NonNullable<StoreOptions["collections"]>,
  warn?: (message: string) => void,
): Promise<Store> {
  const waiting = setTimeout(() => {
    if (!url.startsWith("sqlite:")) console.error(`${about.name}: waiting for ${shownUrl(url)}`);
  }, patience);
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
