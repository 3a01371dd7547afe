// For the command `fetchwork`: these names may change in any release.
export { isMigration } from "./migrations/document-migration.ts";
export { migrationStatus, pendingMigrations } from "./migrations/migration-status.ts";
export { progressCollection } from "./migrations/progress-collection.ts";
export { type Direction, runMigrations } from "./migrations/run-migrations.ts";
export { shownUrl } from "./store/shown-url.ts";
