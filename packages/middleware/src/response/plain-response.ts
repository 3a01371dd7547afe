import { text } from "@fetchwork/http/responses";

/** Refuses a request with a line of plain text that no browser takes for something else. */
export function refuse(status: number, message: string): Response {
  return text(`${message}\n`, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    },
  });
}
