/**
 * The route table: which declaration a method and a path mean. Paths are matched as they were sent, segment
 * by segment, and decoded afterwards, so that `%2F` inside an id never splits it and an id with a slash may
 * also stand in the middle of a path (`/models/{author}/{slug+}/endpoints`).
 */
import assert from 'node:assert';
import type { Method, Route } from './route.ts';

export interface Match {
  /** The routes of this path by method. */
  readonly methods: ReadonlyMap<Method, Route>;
  /** Still percent-encoded, by name. */
  readonly params: Readonly<Record<string, string>>;
}

export interface RouteTable {
  find(path: string): Match | undefined;
}

interface Pattern {
  expression: RegExp;
  names: readonly string[];
  literals: number;
  greedy: boolean;
  methods: Map<Method, Route>;
}

/** Of every path without names, so that the hot routes have nothing to decode. */
export const noParams: Readonly<Record<string, string>> = Object.freeze({});

export function createRouteTable(routes: readonly Route[]): RouteTable {
  const fixed = new Map<string, Match & { methods: Map<Method, Route> }>();
  const patterns = new Map<string, Pattern>();
  for (const route of routes) {
    for (const path of [route.path, ...route.aliases]) {
      const known = path.includes('{')
        ? entry(patterns, path, () => toPattern(path))
        : entry(fixed, path, () => ({ methods: new Map<Method, Route>(), params: noParams }));
      assert(!known.methods.has(route.method), `${route.method} ${path} is declared twice`);
      known.methods.set(route.method, route);
    }
  }
  // The most specific first: more fixed segments, then names of one segment before names of several.
  const ordered = [...patterns.values()].sort(
    (a, b) => b.literals - a.literals || Number(a.greedy) - Number(b.greedy),
  );
  return {
    find(path) {
      const exact = fixed.get(path);
      if (exact !== undefined) return exact;
      for (const { expression, names, methods } of ordered) {
        const found = expression.exec(path);
        if (found === null) continue;
        const params: Record<string, string> = {};
        for (let i = 0; i < names.length; i++) params[names[i]!] = found[i + 1]!;
        return { methods, params };
      }
      return undefined;
    },
  };
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

function toPattern(path: string): Pattern {
  const names: string[] = [];
  let literals = 0;
  let greedy = false;
  const parts = path.split('/').map((segment) => {
    const name = /^\{(\w+)(\+?)\}$/.exec(segment);
    if (name === null) {
      if (segment !== '') literals++;
      return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    }
    names.push(name[1]!);
    if (name[2] === '+') greedy = true;
    return name[2] === '+' ? '([^/]+(?:/[^/]+)*)' : '([^/]+)';
  });
  return { expression: new RegExp(`^${parts.join('/')}$`), names, literals, greedy, methods: new Map() };
}

/** The methods that a path takes, as `Allow` lists them. */
export function allowedMethods(match: Match): string[] {
  const methods: string[] = [...match.methods.keys()];
  if (match.methods.has('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'];
}
