// Preloaded into the code of a README: connections go to the stand-ins of this machine, whatever
// host they name, unless they go to a server of the code itself. A server listens on a free port,
// whatever port it asks for. The first port that listens is written to FETCHWORK_LISTENING.
import { writeFileSync } from "node:fs";
import { Server, Socket } from "node:net";
import { TLSSocket } from "node:tls";

const { http, https, model, blog } = JSON.parse(process.env["FETCHWORK_STAND_INS"] ?? "{}");
// The ports of a local model and of the blog are those of their READMEs.
const ports = new Map([
  [11_434, model],
  [9000, blog],
]);
/** Ports that servers of this process listen on. */
const own = new Set();

const listen = Reflect.get(Server.prototype, "listen");
Server.prototype.listen = function (...args) {
  this.once("listening", () => {
    const address = this.address();
    if (address === null || typeof address === "string") return;
    own.add(address.port);
    writeFileSync(process.env["FETCHWORK_LISTENING"] ?? "", String(address.port));
  });
  const [first, ...rest] = args;
  if (typeof first === "number") return Reflect.apply(listen, this, [0, ...rest]);
  if (typeof first === "object" && first !== null && "port" in first) {
    return Reflect.apply(listen, this, [{ ...first, port: 0 }, ...rest]);
  }
  return Reflect.apply(listen, this, args);
};

const connect = Reflect.get(Socket.prototype, "connect");
Socket.prototype.connect = function (...args) {
  // Node itself calls it with its arguments in one list.
  const list = Array.isArray(args[0]) ? args[0] : args;
  const [options] = list;
  const isToHost = typeof options === "object" && options !== null && options.path === undefined;
  if (isToHost && !own.has(Number(options.port))) {
    const standIn = this instanceof TLSSocket ? https : http;
    const port = ports.get(Number(options.port)) ?? standIn;
    list[0] = { ...options, host: "127.0.0.1", port, lookup: undefined };
  }
  return Reflect.apply(connect, this, args);
};
