import type { Scalar } from "./scalar.ts";
import type { TemplateValue } from "./expression.ts";

type Lower =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type Letter = Lower | Uppercase<Lower> | "_";
type Word = Letter | Digit;

/** `GET /orgs/{org}` -> `/orgs/{org}`. */
type UrlOf<R extends string> = R extends `${string} ${infer Url}` ? Url : R;

/** Part of an absolute URL after its authority; colons before that part are not variables. */
type PathOf<U extends string> = U extends `${string}://${infer Rest}`
  ? Rest extends `${string}/${infer Path}`
    ? `/${Path}`
    : ""
  : U;

type NameOf<V extends string> = V extends `${infer Name}:${string}`
  ? Name
  : V extends `${infer Name}*`
    ? Name
    : V;

type NamesIn<
  List extends string,
  Names extends string = never,
> = List extends `${infer First},${infer Rest}`
  ? NamesIn<Rest, Names | NameOf<First>>
  : Names | NameOf<List>;

/** Variables of `{a}` and `{+a}`. */
type RequiredIn<
  T extends string,
  Names extends string = never,
> = T extends `${string}{${infer E}}${infer Rest}`
  ? RequiredIn<
      Rest,
      | Names
      | (E extends `${"#" | "." | "/" | ";" | "?" | "&"}${string}`
          ? never
          : NamesIn<E extends `+${infer List}` ? List : E>)
    >
  : Names;

/** Variables of the operators that write nothing when there is nothing. */
type OptionalIn<
  T extends string,
  Names extends string = never,
> = T extends `${string}{${infer E}}${infer Rest}`
  ? OptionalIn<
      Rest,
      | Names
      | (E extends `${"#" | "." | "/" | ";" | "?" | "&"}${infer List}` ? NamesIn<List> : never)
    >
  : Names;

type TakeWord<T extends string, Taken extends string = ""> = T extends `${infer C}${infer Rest}`
  ? C extends Word
    ? TakeWord<Rest, `${Taken}${C}`>
    : Taken
  : Taken;

/** Variables such as `:name`, where the parser sees them too. */
type ColonIn<
  P extends string,
  Names extends string = never,
> = P extends `${infer Head}:${infer Tail}`
  ? Head extends `${string}?${string}` | `${string}#${string}`
    ? Names
    : ColonIn<
        Tail,
        | Names
        | (Head extends `${string}${Word | "}"}`
            ? never
            : Tail extends `${Letter}${string}`
              ? TakeWord<Tail>
              : never)
      >
  : Names;

/** Variables of a literal route that leave a hole when missing: `{a}`, `{+a}`, `:a`. */
export type RequiredVariables<R extends string> = RequiredIn<UrlOf<R>> | ColonIn<PathOf<UrlOf<R>>>;

/** Names of the other variables of a literal route: `{?a}`, `{/a}` and so on. */
export type OptionalVariables<R extends string> = OptionalIn<UrlOf<R>>;

/** A {@link TemplateValue} that is there. */
export type PresentValue = NonNullable<TemplateValue>;

/** A value of a query parameter: a text, or a list of texts. */
export type QueryValue = Scalar | readonly (Scalar | null | undefined)[] | null | undefined;

/** The variables of a literal template; any variables for a template that is not. */
export type TemplateVariables<T extends string> = string extends T
  ? Readonly<Record<string, TemplateValue>>
  : { readonly [Name in RequiredIn<T> | OptionalIn<T>]?: TemplateValue };

/** The variables of a literal route; those in `Known` have a default. */
export type RouteVariables<R extends string, Known extends string = never> = string extends
  R | RequiredVariables<R> | OptionalVariables<R>
  ? unknown
  : { readonly [Name in Exclude<RequiredVariables<R>, Known>]: PresentValue } & {
      readonly [Name in OptionalVariables<R> | (RequiredVariables<R> & Known)]?: TemplateValue;
    };
