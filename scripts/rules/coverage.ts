/** Holds the rules against the titles of the tests: what is covered, what waits, what is missing. */
import type { Rule } from './rule-list.ts';
import { hidesIds, idsInTitle } from './titles.ts';

export interface TestFile {
  path: string;
  titles: readonly string[];
}

/** A rule that cannot be proven before a part of the house exists. */
export interface Waiting {
  /** The folders or files that it needs; the wait is over when all of them exist. */
  until: string | readonly string[];
  why: string;
}

export interface Coverage {
  /** Rule ids in the order of the page, each with the files that prove it. */
  proven: ReadonlyMap<string, readonly string[]>;
  /** Ids that are proven and do not wait. */
  covered: ReadonlySet<string>;
  waiting: ReadonlyMap<string, Waiting>;
  problems: readonly string[];
}

export interface AreaCount {
  area: string;
  total: number;
  covered: number;
  waiting: number;
  missing: readonly Rule[];
}

export function toCoverage(
  rules: readonly Rule[],
  files: readonly TestFile[],
  waiting: ReadonlyMap<string, Waiting>,
): Coverage {
  const known = new Set(rules.map((rule) => rule.id));
  const filesOf = new Map<string, Set<string>>();
  const problems: string[] = [];
  for (const { path, titles } of files) {
    for (const title of titles) {
      if (hidesIds(title))
        problems.push(`${path}: "${title}" must write its rule ids out, so that they can be found`);
      for (const id of idsInTitle(title)) {
        if (!known.has(id)) problems.push(`${path}: "${title}" names ${id}, which is no rule`);
        filesOf.set(id, (filesOf.get(id) ?? new Set()).add(path));
      }
    }
  }
  const proven = new Map(
    rules
      .filter((rule) => filesOf.has(rule.id))
      .map((rule) => [rule.id, [...(filesOf.get(rule.id) ?? [])].sort()]),
  );
  const covered = new Set([...proven.keys()].filter((id) => !waiting.has(id)));
  return { proven, covered, waiting, problems };
}

/** Everything that makes `npm run rules -- --check` fail. */
export function checkCoverage(
  rules: readonly Rule[],
  coverage: Coverage,
  listed: readonly string[],
  exists: (path: string) => boolean,
): string[] {
  const known = new Set(rules.map((rule) => rule.id));
  const problems = [...coverage.problems];
  for (const [id, { until }] of coverage.waiting) {
    if (!known.has(id)) problems.push(`rules-waiting.yaml: ${id} is no rule`);
    const paths = [until].flat();
    if (paths.every(exists)) {
      problems.push(
        `${id} waited for ${paths.join(' and ')}: there now, so prove it and take it out of rules-waiting.yaml`,
      );
    }
  }
  for (const id of listed) {
    if (!known.has(id)) problems.push(`rules-covered.txt: ${id} is no rule`);
    else if (coverage.waiting.has(id))
      problems.push(`${id} was covered and cannot wait again: take it out of rules-waiting.yaml`);
    else if (!coverage.covered.has(id)) problems.push(`${id} lost its test`);
  }
  const inList = new Set(listed);
  const fresh = [...coverage.covered].filter((id) => !inList.has(id));
  if (fresh.length > 0) problems.push(`${fresh.join(', ')} newly covered: run npm run rules -- --write`);
  return problems;
}

export function countAreas(rules: readonly Rule[], coverage: Coverage): AreaCount[] {
  const areas = new Map<string, Rule[]>();
  for (const rule of rules) areas.set(rule.area, [...(areas.get(rule.area) ?? []), rule]);
  return [...areas].map(([area, own]) => ({
    area,
    total: own.length,
    covered: own.filter((rule) => coverage.covered.has(rule.id)).length,
    waiting: own.filter((rule) => coverage.waiting.has(rule.id)).length,
    missing: own.filter((rule) => !coverage.covered.has(rule.id) && !coverage.waiting.has(rule.id)),
  }));
}
