/**
 * One schema, compiled on first use, that checks a value and says in words what is wrong with it.
 * Checking is the fast path (50 ns); the slow walk for the words runs only after a failed check.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { narrow } from './narrow.ts';

export interface Problem {
  /** The field's path as a person writes it: `messages[2].content`; empty for the value itself. */
  path: string;
  /** What it must be: "must be a string". */
  message: string;
}

export interface Validator<S extends TSchema> {
  readonly schema: S;
  check(value: unknown): value is Static<S>;
  /** The most telling problem of a value that failed the check. */
  problem(value: unknown): Problem;
}

interface SchemaError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
}

export function createValidator<S extends TSchema>(schema: S): Validator<S> {
  let compiled: ReturnType<typeof Compile> | undefined;
  // Compiling costs 6 ms a schema: at the first request, not at start.
  const validator = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    schema,
    check: (value): value is Static<S> => validator().Check(value),
    problem(value) {
      // The first 8 errors, which is what TypeBox stops at, need not reach the branch that was meant.
      Settings.Set({ maxErrors: 256 });
      const { value: small, toOriginal } = narrow(value, (candidate) => !validator().Check(candidate));
      const [, errors] = validator().Errors(small) as unknown as [boolean, SchemaError[]];
      const placed = errors.map((error) => ({ ...error, instancePath: toOriginal(error.instancePath) }));
      return toProblem(placed, small);
    },
  };
}

/** `/messages/2/content` as `messages[2].content`. */
export function toPath(pointer: string): string {
  let path = '';
  for (const raw of pointer.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else path += path === '' ? key : `.${key}`;
  }
  return path;
}

function toProblem(errors: readonly SchemaError[], value: unknown): Problem {
  const best = mostTelling(errors, value);
  const path = toPath(best.instancePath);
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  switch (best.keyword) {
    case 'required': {
      const [missing = ''] = best.params['requiredProperties'] as string[];
      return { path: at(missing), message: 'is required' };
    }
    case 'additionalProperties': {
      const [extra = ''] = best.params['additionalProperties'] as string[];
      return { path: at(extra), message: 'is not a known field' };
    }
    default:
      return { path, message: inWords(best, errors) };
  }
}

/**
 * A union reports the failures of all its branches. The branch that a person meant is one whose discriminating
 * literal (`type: "text"`) fits, and of what is wrong there the deepest place tells the most.
 */
function mostTelling(errors: readonly SchemaError[], value: unknown): SchemaError {
  const wrong = new Set(errors.filter(isDiscriminator).map(({ schemaPath }) => branchAround(schemaPath)));
  const meant = errors.filter((error) => {
    if (error.keyword === 'anyOf' || error.keyword === 'boolean') return false;
    const branch = [...wrong].find(
      (candidate) => candidate !== '' && error.schemaPath.startsWith(`${candidate}/`),
    );
    if (branch === undefined) return !wrong.has(error.schemaPath);
    return isDiscriminator(error) && !hasOtherBranch(branch, wrong, errors);
  });
  const candidates = meant.length > 0 ? meant : errors;
  let best = candidates[0];
  for (const error of candidates) if (best === undefined || depth(error) > depth(best)) best = error;
  const unknown = { keyword: 'type', schemaPath: '#', instancePath: '', params: {}, message: '' };
  return best ?? { ...unknown, message: `must not be ${typeof value}` };
}

function isDiscriminator({ keyword }: SchemaError): boolean {
  return keyword === 'const' || keyword === 'enum';
}

/** The innermost branch `…/anyOf/<n>` of a union that a property's schema lies in; empty for none. */
function branchAround(schemaPath: string): string {
  return /^(.*\/anyOf\/\d+)\/properties\/[^/]+/.exec(schemaPath)?.[1] ?? '';
}

/** Whether the union of a wrong branch has another one that failed for a reason of its own. */
function hasOtherBranch(branch: string, wrong: ReadonlySet<string>, errors: readonly SchemaError[]): boolean {
  const union = branch.slice(0, branch.lastIndexOf('/') + 1);
  return errors.some(({ schemaPath, keyword }) => {
    if (keyword === 'anyOf' || !schemaPath.startsWith(union)) return false;
    const [index = '', ...inside] = schemaPath.slice(union.length).split('/');
    // A branch of another type altogether (null, a string) is not what an object was meant to be.
    if (keyword === 'type' && inside.length === 0) return false;
    return !wrong.has(union + index);
  });
}

function depth(error: SchemaError): number {
  const inside = error.keyword === 'required' || error.keyword === 'additionalProperties' ? 1 : 0;
  return error.instancePath.split('/').length + inside;
}

function inWords(best: SchemaError, errors: readonly SchemaError[]): string {
  const same = errors.filter((error) => error.instancePath === best.instancePath);
  const types = same.filter((error) => error.keyword === 'type').map((error) => String(error.params['type']));
  const bounds = same.filter((error) => error.keyword !== 'type' && error.keyword !== 'anyOf');
  const { limit } = best.params as { limit?: number };
  if (best.keyword === 'type' && bounds.length > 0) return inWords(bounds[0]!, bounds);
  switch (best.keyword) {
    case 'type':
      return `must be ${listed(types.filter((type) => type !== 'null').map(articled))}`;
    case 'const':
    case 'enum': {
      const values = same.flatMap((error) =>
        error.keyword === 'const'
          ? [error.params['allowedValue']]
          : ((error.params['allowedValues'] as unknown[]) ?? []),
      );
      return `must be ${values.length > 1 ? 'one of ' : ''}${values.map((value) => JSON.stringify(value)).join(', ')}`;
    }
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`;
    case 'minProperties':
      return `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'pattern':
      return `must match ${String(best.params['pattern'])}`;
    default:
      return best.message;
  }
}

const articled = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function listed(words: readonly string[]): string {
  const unique = [...new Set(words)];
  return unique.length < 2
    ? (unique[0] ?? 'something else')
    : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}
