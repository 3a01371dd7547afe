import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFromTo } from "../../src/request/parse-from-to.ts";
import { parseTimestamp } from "../../src/request/timestamp.ts";

const query = (from: string, to: string): Request =>
  new Request(`http://h/?${new URLSearchParams({ from, to })}`);

describe("parseFromTo", () => {
  it.each([
    // Research A18.
    [query("xyzbad", "20220501"), `incorrect from time: can't parse date "xyzbad"`],
    [query("20220406", "xyzbad"), `incorrect to time: can't parse date "xyzbad"`],
    [query("123455", "20220501"), `incorrect from time: can't parse date "123455"`],
    [query("", ""), `incorrect from time: can't parse date ""`],
    [new Request("http://h/"), `incorrect from time: can't parse date ""`],
    [query("20220406", "a\nb"), `incorrect to time: can't parse date "a\\nb"`],
    [query("x".repeat(1000), ""), `incorrect from time: can't parse date "${"x".repeat(64)}…"`],
  ])("refuses %o", (request, message) => {
    expect(() => parseFromTo(request)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_DATE", status: 400, message }),
    );
  });

  it.each([
    // Research A18.
    ["20220406", "20220501", "2022-04-06T00:00:00.000Z", "2022-05-01T00:00:00.000Z"],
    [
      "2022-04-06T18:30:25",
      "2022-05-01T17:50",
      "2022-04-06T18:30:25.000Z",
      "2022-05-01T17:50:00.000Z",
    ],
  ])("reads %s and %s", (from, to, first, last) => {
    const expected = { from: new Date(first), to: new Date(last) };
    const request = query(from, to);
    expect(parseFromTo(request)).toEqual(expected);
    expect(parseFromTo(new URL(request.url))).toEqual(expected);
    expect(parseFromTo(new URL(request.url).searchParams)).toEqual(expected);
  });

  it("reads an offset whose plus sign is not encoded", () => {
    const { from } = parseFromTo(
      new Request("http://h/?from=2022-04-06T18:30:25+02:00&to=20220501"),
    );
    expect(from.toISOString()).toBe("2022-04-06T16:30:25.000Z");
  });
});

describe("parseTimestamp", () => {
  it.each([
    "2022-04-06",
    "2022-02-30T00:00:00Z",
    "20220230",
    "20210229",
    "2022-13-01T00:00:00",
    "2022-00-01T00:00:00",
    "2022-01-01T24:00:00",
    "2022-01-01T00:60:00",
    "2022-01-01T00:00:60",
    "2022-01-01T00:00Z",
    "2022-01-01T00:00:00.Z",
    "2022-01-01T00:00:00.1234567890",
    "2022-01-01T00:00:00+24:00",
    "2022-01-01t00:00:00z",
    " 20220101",
    "20220101\n",
    "٢٠٢٢٠١٠١",
  ])("refuses %j", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it.each([
    ["2022-04-06T18:30:25.123456789", "2022-04-06T18:30:25.123Z"],
    ["2022-04-06T18:30:25.5", "2022-04-06T18:30:25.500Z"],
    ["2022-04-06T18:30:25", "2022-04-06T18:30:25.000Z"],
    ["2022-04-06T18:30", "2022-04-06T18:30:00.000Z"],
    ["20220406", "2022-04-06T00:00:00.000Z"],
    ["20240229", "2024-02-29T00:00:00.000Z"],
    ["2022-04-06T18:30:25Z", "2022-04-06T18:30:25.000Z"],
    ["2022-04-06T18:30:25-05:30", "2022-04-07T00:00:25.000Z"],
    ["2022-04-06T18:30:25.123456789+01:00", "2022-04-06T17:30:25.123Z"],
    ["2022-04-06T18:30:25-23:59", "2022-04-07T18:29:25.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ])("reads %s as %s", (text, iso) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(iso);
  });

  it("reads every date that it wrote", () => {
    const range = { min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z") };
    fc.assert(
      fc.property(fc.date({ ...range, noInvalidDate: true }), (date) => {
        expect(parseTimestamp(date.toISOString())).toEqual(date);
      }),
    );
  });
});
