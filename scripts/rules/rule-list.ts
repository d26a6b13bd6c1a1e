/** The list of rules: reads `docs/reference/rules.md`. */

export interface Rule {
  id: string;
  /** The part of the id before its number: `CHAT`. */
  area: string;
  text: string;
}

const ruleLine = /^- (([A-Z]+)-\d+) · (.*)$/;

/** The rules in the order of the page. An id that stands there twice is a mistake of the page. */
export function parseRules(markdown: string): Rule[] {
  const rules = new Map<string, Rule>();
  for (const line of markdown.split('\n')) {
    const [, id, area, text] = ruleLine.exec(line) ?? [];
    if (id === undefined || area === undefined || text === undefined) continue;
    if (rules.has(id)) throw new Error(`${id} stands twice in the list of rules`);
    rules.set(id, { id, area, text });
  }
  return [...rules.values()];
}
