// A load of keep-alive requests that costs little CPU itself: raw sockets, one request at a time on
// each, answers told apart by Content-Length or chunks. Resolves to the seconds it took.
import net from "node:net";

/** Sends `amount` requests over `connections` sockets. `text` is the whole request as sent. */
export async function load({ text, ...options }) {
  const { seconds } = await drive({ ...options, texts: [text] });
  return seconds;
}

/**
 * Sends requests over `connections` sockets until there were `amount` of them or `milliseconds` are
 * over: `texts` in turn, again and again. Every answer must have the `status`.
 */
export function drive({ port, connections, texts, status, ...limits }) {
  const { amount = Number.POSITIVE_INFINITY, milliseconds = Number.POSITIVE_INFINITY } = limits;
  return new Promise((resolve, reject) => {
    let count = 0;
    let open = connections;
    const startedAt = performance.now();
    const isOver = () => count >= amount || performance.now() - startedAt >= milliseconds;
    for (let index = 0; index < connections; index += 1) {
      const socket = net.connect(port, "127.0.0.1");
      let received = "";
      const send = () => {
        if (!isOver()) {
          socket.write(texts[count % texts.length]);
          count += 1;
          return;
        }
        socket.end();
        open -= 1;
        if (open === 0) resolve({ seconds: (performance.now() - startedAt) / 1000, count });
      };
      socket.setEncoding("latin1");
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        received += chunk;
        const end = endOfAnswer(received);
        if (end < 0) return;
        if (!received.startsWith(`HTTP/1.1 ${status}`)) reject(new Error(received.slice(0, 800)));
        received = received.slice(end);
        send();
      });
    }
  });
}

function endOfAnswer(received) {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return -1;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, head + 2));
  if (length) {
    const end = head + 4 + Number(length[1]);
    return received.length < end ? -1 : end;
  }
  const last = received.indexOf("\r\n0\r\n\r\n", head);
  return last < 0 ? -1 : last + 7;
}

/** The text of a request. */
export function requestText(method, path, { headers = {}, body = "" } = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (body) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
