import { expect, it } from "vitest";
import { sniffType } from "../../../src/content/compress/sniff-type.ts";

it.each<[string, string | readonly number[]]>([
  ["text/plain", ""],
  ["text/plain", "hello"],
  ["text/plain", '{"a":1}'],
  ["text/plain", "\u001b[1m bold"],
  ["text/plain", "grüße"],
  ["text/plain", [0xff, 0xfe, 0x61, 0x00]],
  ["text/plain", [0xef, 0xbb, 0xbf, 0x01]],
  ["text/html", "<!DOCTYPE HTML><p>"],
  ["text/html", "  \n<html >"],
  ["text/plain", "<htmlx>"],
  ["text/xml", "<?xml version='1.0'?>"],
  ["application/octet-stream", "%PDF-1.7"],
  ["application/octet-stream", "GIF89a"],
  ["application/octet-stream", "PK\u0003\u0004"],
  ["application/octet-stream", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["application/octet-stream", [0x61, 0x00]],
  ["text/plain", `${"a".repeat(512)}\0`],
  ["application/octet-stream", `${"a".repeat(511)}\0`],
])("sniffType detects %s: %j", (type, content) => {
  const bytes =
    typeof content === "string" ? new TextEncoder().encode(content) : Uint8Array.from(content);
  expect(sniffType(bytes)).toBe(type);
});
