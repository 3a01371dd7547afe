import { expect, it } from "vitest";
import { isConnectionHeader } from "../src/connection-headers.ts";

it.each(["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])(
  "isConnectionHeader() accepts %s",
  (name) => expect(isConnectionHeader(name)).toBe(true),
);

it.each(["content-length", "host", "te-x", "", "constructor"])(
  "isConnectionHeader() rejects %j",
  (name) => expect(isConnectionHeader(name)).toBe(false),
);
