import { describe, expect, it } from "vitest";
import { parsePostgresUrl } from "../src/engines/postgres/connections/address.ts";

describe("A URL of PostgreSQL", () => {
  it.each([
    "postgres:",
    "postgres:secret",
    "postgres://u:secret",
    "postgres://u:sec@ret@h/d",
    "postgres://u:secret%@h/d",
    "postgres://u:secret@h:0/d",
    "postgres://u:secret@h:65536/d",
    "postgres://u:secret@h:x/d",
    "postgres://u:secret@h/d?sslmode=prefer",
    "postgres://u:secret@h/d?sslmode=require&sslmode=disable",
    "postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/nowhere/secret.pem",
    "postgres://u:secret@h/d?sslrootcert=/nowhere/secret.pem",
    "postgres://u:secret@h/d?sslmode=disable&sslcert=/nowhere/secret.pem&sslkey=/nowhere/secret.key",
    "postgres://u:secret@h/d?sslmode=require&sslcert=/nowhere/secret.pem",
    "postgres://u:secret@h/d?options=-c%20x",
    "postgres://u:secret@/d?host=relative",
    "postgres://u:secret@h/d#x",
  ])("is refused when it is %j, without showing any of it", (url) => {
    const parse = () => parsePostgresUrl(url);
    expect(parse).toThrow(expect.objectContaining({ code: "ERR_DOCUMENTS_OPTIONS" }));
    expect(parse).not.toThrow(/secret|nowhere/);
  });

  it("names one host or several, in the order in which they are tried", () => {
    expect(parsePostgresUrl("postgresql://a,b:6000,[::1]:7000/data").hosts).toEqual([
      { host: "a", port: 5432 },
      { host: "b", port: 6000 },
      { host: "::1", port: 7000 },
    ]);
  });

  it("is decoded, with the defaults of PostgreSQL", () => {
    expect(parsePostgresUrl("postgres://an%40n:p%2F%3F%23@h/d%2Fb?application_name=blog")).toEqual({
      hosts: [{ host: "h", port: 5432 }],
      user: "an@n",
      password: "p/?#",
      database: "d/b",
      ssl: false,
      applicationName: "blog",
    });
    expect(parsePostgresUrl("postgres://ann@")).toMatchObject({
      hosts: [{ host: "localhost", port: 5432 }],
      password: undefined,
      database: "ann",
      applicationName: "fetchwork",
    });
  });

  it("reaches a Unix socket by its folder", () => {
    expect(parsePostgresUrl("postgres://ann@:6000/d?host=/run/postgresql").hosts).toEqual([
      { host: "/run/postgresql", port: 6000 },
    ]);
  });

  it.each([
    ["disable", false],
    ["require", { rejectUnauthorized: false, checkServerIdentity: expect.any(Function) }],
    ["verify-full", { rejectUnauthorized: true }],
  ])("asks for TLS by sslmode %s", (mode, ssl) => {
    expect(parsePostgresUrl(`postgres://h/d?sslmode=${mode}`).ssl).toEqual(ssl);
  });

  it("passes over the name in the certificate with sslmode verify-ca, and nothing else", () => {
    const { ssl } = parsePostgresUrl("postgres://h/d?sslmode=verify-ca");
    expect(ssl).toMatchObject({ rejectUnauthorized: true });
    expect(ssl).toHaveProperty("checkServerIdentity");
  });
});
