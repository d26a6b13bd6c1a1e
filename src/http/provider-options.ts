/**
 * Settings of a model, for the routes that take them in three places: at the top level, under `provider.options`, and
 * there under the provider's own name, because one SDK lets nothing else through. The first that is present counts.
 * What stands in `provider` besides is routing, which there is none of here: it is accepted and ignored.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { GatewayError, refusal } from '../lib/errors.ts';
import { shown } from '../lib/quoted.ts';
import type { Validator } from '../lib/schema.ts';

type Values = Readonly<Record<string, unknown>>;

/** The field's schema: with the settings in it, because the texts of a form are read by what is declared. */
export function providerOf<P extends TProperties>(settings: P) {
  const options = Type.Optional(Type.Union([Type.Object(settings), Type.Null()]));
  return Type.Optional(
    Type.Union([Type.Object({ options }), Type.Null()], {
      description: '`options` carries settings; the rest is ignored',
    }),
  );
}

export interface SettingRules {
  /** The settings' schema: what stands under `provider.options` is checked by it like the top level. */
  readonly validator: Validator<TSchema>;
  /** The names that the model takes. */
  readonly allowed: readonly string[];
  /** The provider's name in the model's entry. */
  readonly slug: string;
}

/** What is known of each setting: its value, and the path under which it came. */
export type Settings = ReadonlyMap<string, { readonly value: unknown; readonly path: string }>;

export function toSettings(body: Values, rules: SettingRules): Settings {
  const settings = new Map<string, { value: unknown; path: string }>();
  const add = (name: string, value: unknown, path: string) => {
    if (value !== undefined && value !== null && !settings.has(name)) settings.set(name, { value, path });
  };
  for (const name of rules.allowed) add(name, body[name], name);
  const options = optionsOf(body['provider']);
  if (options === undefined) return settings;
  const path = 'provider.options';
  const own = options[rules.slug];
  for (const [name, value] of Object.entries(options)) {
    if (name === rules.slug && !rules.allowed.includes(name)) continue;
    if (!rules.allowed.includes(name)) throw undeclared(`${path}.${shown(name)}`, rules.allowed);
    check(rules, name, value, path);
    add(name, value, `${path}.${name}`);
  }
  if (own === undefined || own === null || rules.allowed.includes(rules.slug)) return settings;
  const ownPath = `${path}.${rules.slug}`;
  if (!isObject(own)) throw refusal(ownPath, 'must be an object');
  for (const [name, value] of Object.entries(own)) {
    if (!rules.allowed.includes(name)) throw undeclared(`${ownPath}.${shown(name)}`, rules.allowed);
    check(rules, name, value, ownPath);
    add(name, value, `${ownPath}.${name}`);
  }
  return settings;
}

function optionsOf(provider: unknown): Values | undefined {
  if (provider === undefined || provider === null) return undefined;
  if (!isObject(provider)) throw refusal('provider', 'must be an object');
  const { options } = provider;
  if (options === undefined || options === null) return undefined;
  if (!isObject(options)) throw refusal('provider.options', 'must be an object');
  return options;
}

function check({ validator }: SettingRules, name: string, value: unknown, path: string): void {
  const one = { [name]: value };
  if (value === null || validator.check(one)) return;
  const problem = validator.problem(one);
  throw refusal(`${path}.${problem.path}`, problem.message);
}

function undeclared(path: string, allowed: readonly string[]): GatewayError {
  const known = allowed.length === 0 ? 'takes none' : `takes ${allowed.join(', ')}`;
  return new GatewayError('unsupported_parameter', `${path} is not a setting of the model, which ${known}`, {
    param: path,
  });
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
