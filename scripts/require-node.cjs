// Loaded before anything else, so it must run on any Node: the sources need type stripping and `node:sqlite`.
var wanted = [22, 19];
var own = process.versions.node.split(".").map(Number);
if (own[0] < wanted[0] || (own[0] === wanted[0] && own[1] < wanted[1])) {
  console.error(
    "fetchwork: Node " + process.versions.node + " is too old; run `npm install` and start this with `npm run`, which uses the repository's own Node, or use Node " + wanted.join(".") + " or later",
  );
  process.exit(1);
}
