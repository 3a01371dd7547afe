import {
  DocumentsError,
  DocumentsTypeError,
  openStore,
  type Store,
  type StoreOptions,
} from "@fetchwork/documents";
import { shownUrl } from "./shown-url.ts";
import { StartError } from "./start-error.ts";

/**
 * Opens the store.
 *
 * @throws StartError that names the setting or the file at fault.
 */
export async function openDatabase(
  url: string,
  collections: NonNullable<StoreOptions["collections"]>,
): Promise<Store> {
  try {
    return await openStore(url, { collections });
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
  }
}
