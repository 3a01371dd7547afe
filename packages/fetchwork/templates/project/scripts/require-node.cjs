// #if !workspace
// Loaded before anything else, on whatever Node there is.
var version = process.versions.node;
var major = Number(version.split(".")[0]);
var minor = Number(version.split(".")[1]);

if (!(major >= 24 || (major === 22 && minor >= 19))) {
  console.error(
    "my-api: Node " +
      version +
      " is too old: run `npm install`, then the scripts of package.json, which use the project's own Node 24;" +
      " or use Node 22.19, 24 or later",
  );
  process.exit(1);
}
// #endif
