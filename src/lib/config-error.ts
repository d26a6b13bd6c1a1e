/** Everything that is wrong with a configuration, said at once and by path, so that one correction is enough. */
import type { Problem } from './schema.ts';

export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    const lines = problems.map(({ path, message }) => `\n  ${path === '' ? message : `${path} ${message}`}`);
    super(`${source} cannot be used:${lines.join('')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** `models[2]` and `pricing.prompt` as `models[2].pricing.prompt`. */
export function joinPath(base: string, path: string): string {
  if (base === '' || path === '') return base + path;
  return path.startsWith('[') ? base + path : `${base}.${path}`;
}
