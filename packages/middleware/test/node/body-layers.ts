import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { fromNodeListener, type NodeApplication } from "@fetchwork/http/serve";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import { blackWords, idempotency, logger, sizeLimit } from "../../src/index.ts";

/** Maximum size of a body in the tests, in bytes. */
export const limit = 100_000;

/** The middlewares that read bodies. What `logger` logs of them is added to `logged`. */
export const bodyLayers: Readonly<Record<string, (logged: string[]) => Middleware>> = {
  "sizeLimit()": () => sizeLimit(limit),
  "sizeLimit() in stream mode": () => sizeLimit(limit, { mode: "stream" }),
  "blackWords()": () => blackWords(["evil"]),
  "logger({ body: true })": (logged) =>
    logger({
      sink: () => undefined,
      body: {
        transform: (body) => {
          logged.push(body);
          return body;
        },
      },
    }),
  "idempotency()": () => idempotency(),
};

/** Every ordered pair of them. */
export const pairs = Object.keys(bodyLayers).flatMap((outer) =>
  Object.keys(bodyLayers)
    .filter((inner) => inner !== outer)
    .map((inner) => [outer, inner] as const),
);

export function makeLayers(names: readonly string[], logged: string[]): Middleware[] {
  return names.flatMap((name) => bodyLayers[name]?.(logged) ?? []);
}

/** A response that a test decides the time of. */
export interface Late {
  /** Resolved when the application has got the request. */
  readonly asked: PromiseWithResolvers<void>;
  /** The application responds at `/late` when it is resolved. */
  readonly release: PromiseWithResolvers<void>;
  /** Resolved when it has done so. */
  readonly responded: PromiseWithResolvers<void>;
}

export function makeLate(): Late {
  return {
    asked: Promise.withResolvers(),
    release: Promise.withResolvers(),
    responded: Promise.withResolvers(),
  };
}

type MakeApplication = (late: Late) => Promise<NodeApplication>;

/** Ways of reading a request, apart from the parser of the framework. */
const readers: Readonly<Record<string, (message: IncomingMessage) => Promise<string>>> = {
  data: (message) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk: Buffer) => chunks.push(chunk));
      message.on("end", () => resolve(Buffer.concat(chunks).toString()));
      message.on("error", reject);
    }),
  pipe: (message) => {
    const target = new PassThrough();
    message.on("error", (error) => target.destroy(error));
    return readText(message.pipe(target));
  },
  loop: async (message) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  },
};

export const routes = ["parser", ...Object.keys(readers), "unread"];

/** What every application responds to a body that it has read. */
function describeBody(body: string): string {
  return `${body.length} ${createHash("sha256").update(body).digest("hex")}`;
}

/** The handler that all applications are compared with. */
export const webHandler: Handler = async (request) => {
  if (new URL(request.url).pathname === "/unread") return text("unread");
  return text(describeBody(await request.text()));
};

const makeExpress: MakeApplication = async (late) => {
  const app = express();
  app.post("/parser", express.text({ type: () => true, limit: "1mb" }), (request, response) => {
    response.send(describeBody(String(request.body)));
  });
  for (const [name, read] of Object.entries(readers)) {
    app.post(`/${name}`, async (request, response) => {
      response.send(describeBody(await read(request)));
    });
  }
  app.post("/unread", (_request, response) => void response.send("unread"));
  app.post("/late", (request, response) => {
    request.resume();
    late.asked.resolve();
    void late.release.promise.then(() => {
      response.set("x-late", "yes");
      response.json({ late: true });
      late.responded.resolve();
    });
  });
  const report: express.ErrorRequestHandler = (error: unknown, _request, response, _next) => {
    response.status(statusOf(error)).end();
  };
  app.use(report);
  return app;
};

const makeFastify: MakeApplication = async (late) => {
  const app = fastify({ bodyLimit: 1_048_576 });
  app.setErrorHandler((error, _request, reply) => {
    void reply.code(statusOf(error)).send();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.post("/parser", (request) => describeBody(String(request.body)));
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const [name, read] of Object.entries(readers)) {
      raw.post(`/${name}`, async (request) => describeBody(await read(request.raw)));
    }
    raw.post("/unread", async () => "unread");
    raw.post("/late", (request, reply) => {
      request.raw.resume();
      late.asked.resolve();
      void late.release.promise.then(() => {
        void reply.header("x-late", "yes").send({ late: true });
        late.responded.resolve();
      });
    });
  });
  await app.ready();
  return (request, response) => app.routing(request, response);
};

const makeKoa: MakeApplication = async (late) => {
  const app = new Koa();
  const all: typeof readers = { ...readers, parser: (message: Readable) => readText(message) };
  app.use(async (context) => {
    const read = all[context.path.slice(1)];
    try {
      if (read !== undefined) {
        context.body = describeBody(await read(context.req));
      } else if (context.path === "/late") {
        context.req.resume();
        late.asked.resolve();
        await late.release.promise;
        context.set("x-late", "yes");
        context.body = { late: true };
        late.responded.resolve();
      } else {
        context.body = "unread";
      }
    } catch (error) {
      context.status = statusOf(error);
      context.body = "";
    }
  });
  return app.callback();
};

export const frameworks: Readonly<Record<string, MakeApplication>> = {
  Express: makeExpress,
  Fastify: makeFastify,
  Koa: makeKoa,
};

/** An application behind middlewares, as the documentation has it. */
export async function wrapApplication(
  name: string,
  layers: readonly Middleware[],
  late = makeLate(),
): Promise<Handler> {
  const make = frameworks[name];
  if (make === undefined) throw new TypeError(`there is no framework "${name}"`);
  return wrap(fromNodeListener(await make(late)), ...layers);
}

/** Frameworks ask an error for its status; what has none is a fault of the application. */
function statusOf(error: unknown): number {
  return error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
}
