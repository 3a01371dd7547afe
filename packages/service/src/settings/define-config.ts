import { ServiceError, StartError } from "../errors.ts";
import { isSecret, secretAdvice, type Setting } from "./setting.ts";

/** Settings by the names of their variables. */
export type SettingsShape = Readonly<Record<string, Setting>>;

/** Values of settings by name, with their types. */
export type SettingsOf<Shape extends SettingsShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Setting<infer Value> ? Value : never;
};

/** Variables with their values, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Something that belongs to an open service: a call, a run of a job, an event of a receiver. */
export interface InService {
  readonly store: object;
}

/** The settings that a service reads from its environment when it starts. */
export interface Config<Shape extends SettingsShape = SettingsShape> {
  readonly shape: Shape;
  /** Texts in the place of the defaults of settings. */
  readonly defaults: Environment;
  /**
   * Reads the settings; an empty variable is one that is not set.
   *
   * @throws StartError that names every variable that is missing or cannot serve, each on a line.
   */
  read(environment: Environment): SettingsOf<Shape>;
  /**
   * Returns the settings of the service that a call, a run of a job or an event belongs to.
   *
   * @throws ServiceError for what belongs to no service.
   */
  of(inService: InService): SettingsOf<Shape>;
  /** Remembers the settings of the service that has a store. Services do so when they open. */
  keep(store: object, settings: SettingsOf<Shape>): void;
}

/**
 * Defines the settings of a service: variables of its environment, each with the schema that reads
 * it.
 *
 * @param shape - Settings by the names of their variables, such as `...serverSettings` and settings
 * of your own.
 * @param defaults - Texts in the place of the defaults of settings. Default: none.
 * @throws ServiceError for a default of a setting that there is not.
 *
 * @example
 * ```ts
 * const config = defineConfig({ ...serverSettings, MODERATION_URL: z.url().optional() });
 * const { MODERATION_URL } = config.of(call);
 * ```
 */
export function defineConfig<Shape extends SettingsShape>(
  shape: Shape,
  defaults: Partial<Record<keyof Shape, string>> = {},
): Config<Shape> {
  const unknown = Object.keys(defaults).find((name) => !Object.hasOwn(shape, name));
  if (unknown !== undefined) throw new ServiceError(`unknown setting ${unknown}`);
  const kept = new WeakMap<object, SettingsOf<Shape>>();
  return {
    shape,
    defaults,
    read: (environment) => readSettings(shape, { ...defaults, ...withoutEmpty(environment) }),
    of({ store }) {
      // The store of a call in a transaction names the one around it.
      const around = Reflect.get(store, Symbol.for("fetchwork.store")) as object | undefined;
      const settings = kept.get(around ?? store);
      if (settings === undefined) throw new ServiceError("the store belongs to no open service");
      return settings;
    },
    keep: (store, settings) => void kept.set(store, settings),
  };
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
}

/** Our own messages go on from the name; those of Zod are sentences. */
const separatorOf = (message: string): string => (/^[A-Z]/.test(message) ? ": " : " ");

function readSettings<Shape extends SettingsShape>(
  shape: Shape,
  environment: Environment,
): SettingsOf<Shape> {
  const faults: string[] = [];
  const settings: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(shape)) {
    const text = environment[name];
    const { data, error } = setting.safeParse(text);
    if (error === undefined) settings[name] = data;
    else if (text === undefined) {
      faults.push(`${name} is not set${isSecret(setting) ? secretAdvice : "; see .env.example"}`);
    } else faults.push(...error.issues.map(({ message }) => name + separatorOf(message) + message));
  }
  if (faults.length > 0) throw new StartError(faults.join("\n"));
  return settings as SettingsOf<Shape>;
}
