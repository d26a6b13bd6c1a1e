/** Whether a text fits a GBNF grammar, as llama.cpp reads them. Slow and plain: for tests of what makes grammars. */

type Node =
  | { type: 'literal'; text: string }
  | { type: 'class'; isNegated: boolean; ranges: [number, number][] }
  | { type: 'rule'; name: string }
  | { type: 'choice'; options: Node[][] }
  | { type: 'repeat'; node: Node; least: number; most: number };

export function createMatcher(grammar: string): (text: string) => boolean {
  const rules = new Map<string, Node>();
  for (const line of grammar.split('\n')) {
    const [, name = '', body = ''] = /^([\w-]+) ::= (.*)$/s.exec(line) ?? [];
    if (name === '') throw new Error(`not a rule: ${line}`);
    rules.set(name, parse(body));
  }
  return (text) => {
    const characters = [...text];
    return ends(rules, { type: 'rule', name: 'root' }, characters, new Set([0])).has(characters.length);
  };
}

function parse(body: string): Node {
  let at = 0;
  const skip = () => {
    while (body[at] === ' ') at += 1;
  };

  function choice(): Node {
    const options: Node[][] = [[]];
    for (skip(); at < body.length && body[at] !== ')'; skip()) {
      if (body[at] === '|') {
        at += 1;
        options.push([]);
      } else options.at(-1)?.push(repeated(item()));
    }
    return { type: 'choice', options };
  }

  function item(): Node {
    const character = body[at];
    if (character === '"') return literal();
    if (character === '[') return characterClass();
    if (character === '(') {
      at += 1;
      const inside = choice();
      if (body[at] !== ')') throw new Error(`unclosed: ${body}`);
      at += 1;
      return inside;
    }
    const name = /^[\w-]+/.exec(body.slice(at))?.[0];
    if (name === undefined) throw new Error(`cannot read: ${body.slice(at)}`);
    at += name.length;
    return { type: 'rule', name };
  }

  function one(): string {
    if (body[at] !== '\\') {
      const character = String.fromCodePoint(body.codePointAt(at) ?? 0);
      at += character.length;
      return character;
    }
    const letter = body[at + 1] ?? '';
    at += 2;
    if (letter === 'x') {
      at += 2;
      return String.fromCharCode(Number.parseInt(body.slice(at - 2, at), 16));
    }
    const known: Record<string, string> = {
      n: '\n',
      r: '\r',
      t: '\t',
      '\\': '\\',
      '"': '"',
      '[': '[',
      ']': ']',
    };
    const found = known[letter];
    if (found === undefined) throw new Error(`unknown escape \\${letter} in ${body}`);
    return found;
  }

  function literal(): Node {
    let text = '';
    at += 1;
    while (body[at] !== '"') {
      if (at >= body.length) throw new Error(`unclosed literal: ${body}`);
      text += one();
    }
    at += 1;
    return { type: 'literal', text };
  }

  function characterClass(): Node {
    at += 1;
    const isNegated = body[at] === '^';
    if (isNegated) at += 1;
    const ranges: [number, number][] = [];
    while (body[at] !== ']') {
      if (at >= body.length) throw new Error(`unclosed class: ${body}`);
      const from = one();
      const isRange = body[at] === '-' && body[at + 1] !== ']';
      if (isRange) at += 1;
      ranges.push([from.codePointAt(0) ?? 0, (isRange ? one() : from).codePointAt(0) ?? 0]);
    }
    at += 1;
    return { type: 'class', isNegated, ranges };
  }

  function repeated(node: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})/.exec(body.slice(at));
    if (found === null) return node;
    at += found[0].length;
    const [mark, least, most] = found;
    const endless = Number.POSITIVE_INFINITY;
    if (mark === '*') return { type: 'repeat', node, least: 0, most: endless };
    if (mark === '+') return { type: 'repeat', node, least: 1, most: endless };
    if (mark === '?') return { type: 'repeat', node, least: 0, most: 1 };
    const upper = most === undefined ? Number(least) : most === '' ? endless : Number(most);
    return { type: 'repeat', node, least: Number(least), most: upper };
  }

  const node = choice();
  if (at < body.length) throw new Error(`cannot read: ${body.slice(at)}`);
  return node;
}

/** Where the node can end when it starts at any of these places. */
function ends(
  rules: ReadonlyMap<string, Node>,
  node: Node,
  text: readonly string[],
  starts: ReadonlySet<number>,
): Set<number> {
  if (starts.size === 0) return new Set();
  switch (node.type) {
    case 'literal': {
      const expected = [...node.text];
      const fits = (start: number) => expected.every((character, index) => text[start + index] === character);
      return new Set([...starts].filter(fits).map((start) => start + expected.length));
    }
    case 'class': {
      const fits = (start: number) => {
        const code = text[start]?.codePointAt(0);
        if (code === undefined) return false;
        return node.ranges.some(([from, to]) => code >= from && code <= to) !== node.isNegated;
      };
      return new Set([...starts].filter(fits).map((start) => start + 1));
    }
    case 'rule': {
      const rule = rules.get(node.name);
      if (rule === undefined) throw new Error(`there is no rule ${node.name}`);
      return ends(rules, rule, text, starts);
    }
    case 'choice': {
      const all = new Set<number>();
      for (const option of node.options) {
        let current: Set<number> = new Set(starts);
        for (const each of option) current = ends(rules, each, text, current);
        for (const end of current) all.add(end);
      }
      return all;
    }
    case 'repeat': {
      const all = new Set<number>();
      let current: Set<number> = new Set(starts);
      for (let count = 0; current.size > 0; count++) {
        const before = all.size;
        if (count >= node.least) for (const end of current) all.add(end);
        if (count >= node.most || (count > node.least && all.size === before)) break;
        current = ends(rules, node.node, text, current);
      }
      return all;
    }
  }
}
