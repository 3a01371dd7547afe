import { describe, expect, it } from "vitest";
import { areGiven, keyOf, ours, readCases, theirs } from "../api-query-case.ts";

const cursor = { skip: 0, limit: 30, sort: { createdAt: -1 } };
const select = {};

function refused(param: string, name: string, message: string): unknown {
  return { error: { valid: false, param, name, message: `${param} ${message}` } };
}

/** One case that our decisions change: why, and what ours returns. */
interface Difference {
  readonly why: string;
  readonly ours: unknown;
}

const search =
  "2B 7: q goes to the search of the store, word by word, and is not a regular expression";
const searchNothing = "2B 7: an empty q is none, as with every other parameter";
const strict = "the text of a parameter is converted strictly, or refused";
const strictBody = "2B 7 and 9: JSON is not converted; what is of another type is refused";
const boolean = "2B 7: valid is always a boolean";
const unknown = "2B 7: a parameter that the list does not have is refused";
const text = "times are texts in ISO 8601, in JSON as in the store";

const user =
  '{"email":{"type":"String","match":"^\\\\S+@\\\\S+\\\\.\\\\S+$","required":true,"trim":true,"lowercase":true},"password":{"type":"String","required":true,"minlength":6},"name":{"type":"String","trim":true},"role":{"type":"String","enum":["user","admin"],"default":"user"}}';
const times =
  '{"after":{"type":"Date","paths":["createdAt"],"operator":"$gte"},"before":{"type":"Date","paths":["createdAt"],"operator":"$lte"}}';
const place = { $near: { $geometry: { type: "Point", coordinates: [-44.32, -22.84] } } };

const differences: Readonly<Record<string, Difference>> = {
  'query {"q":"Foo Bar"}': { why: search, ours: { query: { q: "Foo Bar" }, select, cursor } },
  'query {"q":""}': { why: searchNothing, ours: { query: {}, select, cursor } },
  'query {"q":"fooBar"}': { why: search, ours: { query: { q: "fooBar" }, select, cursor } },
  'query {"q":".*"}': { why: search, ours: { query: { q: ".*" }, select, cursor } },
  'query {"q":"x","page":"3","limit":"7","sort":"a","fields":"b"}': {
    why: search,
    ours: { query: { q: "x" }, select: { b: 1 }, cursor: { skip: 14, limit: 7, sort: { a: 1 } } },
  },
  'query {"page":"31"}': {
    why: "2B 8: pages are counted from 1 without a last one",
    ours: { query: {}, select, cursor: { ...cursor, skip: 900 } },
  },
  'query {"fields":"-a,b"}': {
    why: "research A.10, 13: fields either include or exclude; theirs failed in the database",
    ours: refused("fields", "mixed", "must either include or exclude, not both"),
  },
  'query {"fields":"idx"}': {
    why: "research A.10, 13: only id means the identifier, not what begins with it",
    ours: { query: {}, select: { idx: 1 }, cursor },
  },
  'query {"near":"1,2"}': {
    why: unknown,
    ours: refused("near", "unknown", "is not a parameter here"),
  },
  'query {"near":true} {"near":"91,0"}': {
    why: "there is no latitude beyond the poles",
    ours: refused("near", "max", "must be lower than or equal to 90"),
  },
  'query {"near":true} {"min_distance":"5"}': {
    why: "a distance from nowhere is refused",
    ours: refused("near", "required", "is required"),
  },
  'query {"near":{"geojson":false}} {"near":true} {"near":"-22.84,-44.32"}': {
    why: "a place is of one form, however documents hold it",
    ours: { query: { location: place }, select, cursor: { skip: 0, limit: 30 } },
  },
  [`query ${times} {"after":"1461369600000"}`]: {
    why: text,
    ours: refused("after", "invalid", "is not valid"),
  },
  [`query ${times} {"after":"2016"}`]: {
    why: text,
    ours: refused("after", "invalid", "is not valid"),
  },
  'query {"active":{"type":"Boolean"}} {"active":"1"}': {
    why: strict,
    ours: refused("active", "type", "must be of type boolean"),
  },
  'query {"active":{"type":"Boolean"}} {"active":"no"}': {
    why: strict,
    ours: refused("active", "type", "must be of type boolean"),
  },
  'query {"category":{"type":"String","enum":["culture","general"]}} {"category":"world"}': {
    why: boolean,
    ours: refused("category", "enum", "must be one of: culture, general"),
  },
  'query {"n":{"type":"Number","min":1,"max":10,"required":true}} {"n":"x"}': {
    why: strict,
    ours: refused("n", "type", "must be of type number"),
  },
  'query {"term":{"type":"RegExp","paths":["title","description"]}} {"term":"abc"}': {
    why: "the store has no regular expressions, which take unbounded time; prefix or q",
    ours: {
      query: { $or: [{ title: { prefix: "abc" } }, { description: { prefix: "abc" } }] },
      select,
      cursor,
    },
  },
  'query {"page":false,"limit":"max_items"} {"page":"2","max_items":"5"}': {
    why: unknown,
    ours: refused("page", "unknown", "is not a parameter here"),
  },
  'query {"page":false,"limit":"max_items"} {"max_items":"101"}': {
    why: "parameters have one name in every list",
    ours: refused("max_items", "unknown", "is not a parameter here"),
  },
  [`body ${user} {"email":"x","password":"123456"}`]: {
    why: "2B 7: a message is for a person and holds no regular expression",
    ours: refused("email", "match", "must be a valid value"),
  },
  [`body ${user} {"email":"a@b.c","password":"123456","role":"x"}`]: {
    why: boolean,
    ours: refused("role", "enum", "must be one of: user, admin"),
  },
  [`body ${user} {"email":"a@b.c","password":1234567}`]: {
    why: strictBody,
    ours: refused("password", "type", "must be of type string"),
  },
  [`body ${user} {"email":null,"password":"123456"}`]: {
    why: "2B 9: null is a separate value, which a patch needs",
    ours: refused("email", "type", "must be of type string"),
  },
  [`body ${user} {"email":["a@b.c"],"password":"123456"}`]: {
    why: strictBody,
    ours: refused("email", "type", "must be of type string"),
  },
  'body {"title":{"type":"String"}} {"title":true}': {
    why: strictBody,
    ours: refused("title", "type", "must be of type string"),
  },
  'body {"title":{"type":"String"}} {"title":["a","b"]}': {
    why: strictBody,
    ours: refused("title", "type", "must be of type string"),
  },
  'body {"n":{"type":"Number","min":1}} {"n":""}': {
    why: strictBody,
    ours: refused("n", "type", "must be of type number"),
  },
  'body {"d":{"type":"Date"}} {"d":"2020-01-01"}': {
    why: text,
    ours: { body: { d: "2020-01-01" } },
  },
  'body {"d":{"type":"Date"}} {"d":1577836800000}': {
    why: text,
    ours: refused("d", "invalid", "is not valid"),
  },
  'body {"f":{"type":"Boolean"}} {"f":0}': {
    why: strictBody,
    ours: refused("f", "type", "must be of type boolean"),
  },
  'body {"f":{"type":"Boolean"}} {"f":"yes"}': {
    why: strictBody,
    ours: refused("f", "type", "must be of type boolean"),
  },
  'body {"t":{"type":["String"]}} {"t":"a"}': {
    why: strictBody,
    ours: refused("t", "type", "must be of type array"),
  },
  'body {"t":{"type":["String"]}} {"t":[1,null]}': {
    why: "2B 7: the members of a list have a type too",
    ours: refused("t.0", "type", "must be of type string"),
  },
};

const cases = readCases().map((one) => ({ key: keyOf(one), one }));

describe("vectors of the best-known query and body parsers", () => {
  it.each(cases.filter(({ key }) => !Object.hasOwn(differences, key)))(
    "give the same: $key",
    async ({ one }) => {
      expect(await ours(one)).toEqual(theirs(one));
    },
  );

  it.each(
    cases
      .filter(({ key }) => Object.hasOwn(differences, key))
      .map(({ key, one }) => ({
        key,
        one,
        difference: differences[key],
        why: differences[key]?.why,
      })),
  )("give something else, $why: $key", async ({ one, difference }) => {
    const found = await ours(one);
    expect(found).toEqual(difference?.ours);
    expect(found).not.toEqual(theirs(one));
  });

  // Another folder may have any cases.
  it.skipIf(areGiven)("are all there, and each difference belongs to one", () => {
    expect(cases.length).toBeGreaterThanOrEqual(73);
    const keys = new Set(cases.map(({ key }) => key));
    expect(Object.keys(differences).filter((key) => !keys.has(key))).toEqual([]);
  });
});
