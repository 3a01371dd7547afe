// Loaded before anything else, on whatever Node there is: ES5, and nothing imported.
// The sources need type stripping without a flag (Node 22.18) and `node:sqlite` with FTS5 (22.19).
var version = process.versions.node;
var major = Number(version.split(".")[0]);
var minor = Number(version.split(".")[1]);

if (!(major >= 24 || (major === 22 && minor >= 19))) {
  console.error(
    "fetchwork: Node " +
      version +
      " is too old: run `npm install` (without --ignore-scripts), then `npm start`, `npm test` or `npm run check`," +
      " which use the repository's own Node 24; or use Node 22.19, 24 or later",
  );
  process.exit(1);
}
