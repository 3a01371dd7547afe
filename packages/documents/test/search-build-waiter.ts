// Opens the store of the URL in argv[2] with another search than the one that was built, and waits
// for the build.
import { administer, openStore } from "../src/index.ts";
import { byText } from "./search-build-collections.ts";

const [, , url = ""] = process.argv;
const store = await openStore(url, { collections: [byText] });
await administer(store).built();
await store.close();
