// @fetchwork/documents/jobs that removes what is done, as graphile-worker does.
import { open as openKept } from "./fetchwork.mjs";

export const open = (options) => openKept({ ...options, keep: 0 });
