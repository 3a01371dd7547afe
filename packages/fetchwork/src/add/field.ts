import { CommandUsageError } from "../command/usage-error.ts";

/** Flags of a field: what lists may do with it and how the store indexes it. */
export type FieldFlag = "unique" | "index" | "search" | "sort" | "filter";

type FieldType =
  | "string"
  | "text"
  | "number"
  | "integer"
  | "boolean"
  | "date"
  | "datetime"
  | "email"
  | "url"
  | "enum"
  | "ref";

/** The flags that each type may have. */
const flagsOf: Readonly<Record<FieldType, readonly FieldFlag[]>> = {
  string: ["unique", "index", "search", "sort", "filter"],
  text: ["search"],
  number: ["unique", "index", "sort", "filter"],
  integer: ["unique", "index", "sort", "filter"],
  boolean: ["index", "filter"],
  date: ["unique", "index", "sort", "filter"],
  datetime: ["unique", "index", "sort", "filter"],
  email: ["unique", "index", "search", "sort", "filter"],
  url: ["unique", "index", "filter"],
  enum: ["index", "sort", "filter"],
  ref: ["index", "filter"],
};

/** A field as the command line describes it. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Whether it is a list of such values. */
  readonly isList: boolean;
  /** `required`, `optional`, or neither: then a text, list or boolean has an empty default. */
  readonly presence: "required" | "optional" | "default";
  /** Maximum number of characters of a string or text. */
  readonly max: number | undefined;
  /** Values of an enum. */
  readonly values: readonly string[];
  /** Name of the resource that a ref is about. */
  readonly target: string | undefined;
  readonly flags: ReadonlySet<FieldFlag>;
}

/** Names that documents, requests or objects have already. */
const reservedNames: ReadonlySet<string> = new Set([
  "id",
  "version",
  "createdAt",
  "updatedAt",
  "deletedAt",
  "access_token",
  "accessToken",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then", // `await` reads it from every object.
]);

const listParameters = new Set("q page limit after sort fields near trash populate".split(" "));

/** Greatest length of a text that can be asked for, in characters. */
const greatestLength = 999_999;

/** Words that the conditions of the store reserve. */
const conditionWords = new Set(["and", "or", "not"]);

const shape = /^([^:]*)(?::([a-z]+)(?:\(([^()]*)\))?(\[\])?([!?])?(?::([a-z,]*))?)?$/;

/**
 * Reads `name:type(argument)[]!:flag,flag`: all but the name may be left out, and the type is
 * `string` then.
 *
 * @throws CommandUsageError that names what does not fit.
 */
export function parseField(text: string): Field {
  const [, name = "", type = "string", argument, brackets, mark, flagList = ""] =
    shape.exec(text) ?? refuse(text, "a field is name:type, such as title:string!");
  if (!/^(?=.{1,40}$)[a-z][A-Za-z\d]*(?:_[A-Za-z\d]+)*$/.test(name)) {
    const examples = "such as publishedAt or published_at";
    refuse(
      text,
      `a field name must begin with a lower-case letter, ${examples}, and have at most 40 characters`,
    );
  }
  if (reservedNames.has(name)) refuse(text, `the name ${name} is reserved`);
  if (!isType(type)) {
    refuse(
      text,
      `unknown type ${type}: expected one of ${Object.keys(flagsOf).join(", ")}, or string[] for a list`,
    );
  }
  const isList = brackets !== undefined;
  if (isList && !["string", "number", "integer"].includes(type)) {
    refuse(text, "a list must be string[], number[] or integer[]");
  }
  const flags = flagList === "" ? [] : flagList.split(",");
  const allowed: readonly string[] = isList ? ["filter"] : flagsOf[type];
  const stray = flags.find((flag) => !allowed.includes(flag));
  if (stray !== undefined) {
    const kind = isList ? `${type}[]` : type;
    refuse(text, `${kind} accepts ${allowed.join(", ")}, not ${stray || "an empty word"}`);
  }
  if (flags.includes("filter") && listParameters.has(name)) {
    refuse(text, `the list parameter ${name} is reserved`);
  }
  if (flags.includes("filter") && conditionWords.has(name)) {
    refuse(text, `the field ${name} cannot be a filter`);
  }
  return {
    name,
    type,
    isList,
    presence: mark === "!" ? "required" : mark === "?" ? "optional" : "default",
    ...argumentOf(type, argument, text),
    flags: new Set(flags as FieldFlag[]), // All of them are allowed ones.
  };
}

function argumentOf(
  type: FieldType,
  argument: string | undefined,
  text: string,
): Pick<Field, "max" | "values" | "target"> {
  const none = { max: undefined, values: [], target: undefined };
  if (type === "enum") {
    const values = (argument ?? "").split("|");
    const isGood = values.every((value) => /^[\w-]{1,40}$/.test(value));
    if (!isGood || new Set(values).size < values.length) {
      refuse(text, "an enum must list its values, such as enum(draft|published)");
    }
    return { ...none, values };
  }
  if (type === "ref") {
    if (!/^[a-z][A-Za-z\d-]*$/.test(argument ?? "")) {
      refuse(text, "a ref must name a resource, such as ref(author)");
    }
    return { ...none, target: argument };
  }
  if (type === "string" || type === "text") {
    const standard = type === "text" ? 50_000 : 200;
    if (argument !== undefined && !/^[1-9]\d{0,5}$/.test(argument)) {
      refuse(text, `expected a length from 1 to ${greatestLength}, such as ${type}(${standard})`);
    }
    return { ...none, max: argument === undefined ? standard : Number(argument) };
  }
  if (argument !== undefined) refuse(text, `${type} accepts no argument in parentheses`);
  return none;
}

function isType(type: string): type is FieldType {
  return Object.hasOwn(flagsOf, type);
}

function refuse(text: string, fault: string): never {
  throw new CommandUsageError(`field ${JSON.stringify(text)}: ${fault}`);
}
