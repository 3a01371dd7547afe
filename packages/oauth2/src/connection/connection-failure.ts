import {
  connectionReasonOf,
  systemCodeOf,
  type ConnectionFailure,
} from "@fetchwork/http/transport";
import { OAuth2ConnectionError } from "../errors.ts";

const problems: Readonly<Record<ConnectionFailure, string>> = {
  refused: "connection refused by",
  reset: "connection closed by",
  dns: "cannot resolve the host name of",
  unreachable: "cannot reach",
  tls: "no secure connection to",
  proxy: "no complete response from",
  other: "no complete response from",
};

/** Makes the error of a failed exchange. The message has no path, which may hold a secret. */
export function connectionFailure({ origin }: URL, cause: unknown): OAuth2ConnectionError {
  const code = systemCodeOf(cause);
  const message = `${problems[connectionReasonOf(code)]} ${origin}`;
  return new OAuth2ConnectionError(code === undefined ? message : `${message} (${code})`, {
    cause,
  });
}
