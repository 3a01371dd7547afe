// json-server as its README starts it, without its access log.
import jsonServer from "json-server";

const server = jsonServer.create();
server.use(jsonServer.defaults({ logger: false }));
server.use(jsonServer.bodyParser);
server.use(jsonServer.router(process.env.DATABASE));
server.listen(Number(process.env.PORT), "127.0.0.1");
