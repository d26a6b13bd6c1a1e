/**
 * One schema, compiled on first use, that checks a value and says in words what is wrong with it.
 * Checking is the fast path (50 ns); the slow walk for the words runs only after a failed check.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { type Checks, explain, type Fault, type Finding } from './explain.ts';
import { quoted, shown } from './quoted.ts';

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

export function createValidator<S extends TSchema>(schema: S): Validator<S> {
  let compiled: ReturnType<typeof Compile> | undefined;
  const checks: Checks = new Map();
  // Compiling costs 6 ms a schema: at the first request, not at start.
  const validator = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    schema,
    check: (value): value is Static<S> => validator().Check(value),
    problem: (value) => toProblem(explain(schema, value, checks) ?? unexplained),
  };
}

/** Never seen: what fails the check is found by the walk. */
const unexplained: Finding = { path: [], faults: [] };

/** `['messages', 2, 'content']` as `messages[2].content`. The names may be a client's own. */
export function toPath(keys: Finding['path']): string {
  let path = '';
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`;
    else path += path === '' ? shown(key) : `.${shown(key)}`;
  }
  return path;
}

function toProblem({ path, faults, unknownName }: Finding): Problem {
  // That it is no string is clear from "must be one of".
  const telling = faults.find(({ keyword }) => keyword !== 'type') ?? faults[0];
  const message = telling === undefined ? 'is not valid' : inWords(telling, faults);
  return {
    path: toPath(path),
    message: unknownName === undefined ? message : `${message}, not ${quoted(unknownName)}`,
  };
}

function inWords(telling: Fault, faults: readonly Fault[]): string {
  const { limit } = telling.params as { limit?: number };
  switch (telling.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type': {
      const types = faults.flatMap(({ params }) => params['type'] as string | string[]);
      return `must be ${listed(types.filter((type) => type !== 'null').map(articled))}`;
    }
    case 'const':
    case 'enum': {
      const values = faults.flatMap(({ params }) => params['allowedValues'] ?? params['allowedValue'] ?? []);
      // Null means omitted, which is not what somebody wants who named something.
      const words = [
        ...new Set(values.filter((value) => value !== null).map((value) => JSON.stringify(value))),
      ];
      return `must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`;
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
      return `must match ${String(telling.params['pattern'])}`;
    default:
      return telling.message;
  }
}

const articled = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function listed(words: readonly string[]): string {
  const unique = [...new Set(words)];
  return unique.length < 2
    ? (unique[0] ?? 'something else')
    : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}
