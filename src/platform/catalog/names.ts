/**
 * How the name of a model is read. Pure. "A `-normalize` model suffix is accepted and ignored"; a `:variant`
 * is parsed apart, known or not; ids are case-sensitive. An exact match always comes first, so a model whose
 * own id ends in `-normalize` or begins with `anthropic/` keeps its name.
 */

/**
 * Some clients list and call only models whose ids begin with a vendor's name, so the version-header lists
 * show every chat model under this prefix as well.
 */
export const anthropicPrefix = 'anthropic/';
const ignoredSuffix = '-normalize';

export interface ParsedName {
  base: string;
  variant: string | undefined;
}

/** `qwen3-8b:express` as its base and variant. Ids contain no colon, so the first one ends the base. */
export function parseName(name: string): ParsedName {
  const colon = name.indexOf(':');
  if (colon < 0) return { base: name, variant: undefined };
  const variant = withoutSuffix(name.slice(colon + 1));
  return { base: name.slice(0, colon), variant: variant === '' ? undefined : variant };
}

/** The names that a base may stand for, the likeliest first. */
export function readingsOf(base: string): readonly string[] {
  const plain = withoutSuffix(base);
  return plain === base ? [base] : [base, plain];
}

export function withoutAnthropicPrefix(name: string): string {
  return name.startsWith(anthropicPrefix) ? name.slice(anthropicPrefix.length) : name;
}

function withoutSuffix(name: string): string {
  return name.endsWith(ignoredSuffix) ? name.slice(0, -ignoredSuffix.length) : name;
}

/** Ids under which a model could not be reached, because a route of the API has the path. */
export function isReservedId(id: string): boolean {
  return id === 'count' || id.endsWith('/endpoints');
}
