import { ServerResponse, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { rawRefusal, type Rejection } from "../request/reject-request.ts";

/**
 * Answers what Node's parser and time limits refuse, as a problem, and ends the connection. Whoever already has an
 * answer, or a part of one, gets no second one that would look like more of it.
 */
export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = refusalOf(error.code);
    const answer = answerOn(socket);
    if (refusal === undefined || !socket.writable) {
      socket.destroy();
    } else if (answer === undefined || (!answer.headersSent && !answer.req.complete)) {
      socket.end(rawRefusal(refusal), () => socket.destroy());
    } else if (answer.writableEnded) {
      // Its last bytes may not be out yet.
      socket.end(() => socket.destroy());
    } else {
      // An answer is on its way, and it is for an earlier request than the wrong one.
      socket.destroy();
    }
  });
}

function refusalOf(code: string | undefined): Rejection | undefined {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, detail: "the request did not arrive in time" };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, detail: "the chunk extensions of the body are too large" };
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, detail: "the head of the request is too large" };
    default:
      // All else, such as a reset or a failed TLS handshake, leaves nobody to answer.
      return code?.startsWith("HPE_") === true
        ? { status: 400, detail: "the request is no valid HTTP/1.1 message" }
        : undefined;
  }
}

/** The response that Node is writing to a connection, for which it has no public name. */
function answerOn(socket: Duplex): ServerResponse | undefined {
  const answer: unknown = "_httpMessage" in socket ? socket._httpMessage : undefined;
  return answer instanceof ServerResponse ? answer : undefined;
}
