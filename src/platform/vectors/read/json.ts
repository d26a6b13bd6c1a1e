/**
 * JSON as lines of `path: name value; …`, one for the values that stand together in an object or a list. It is read
 * piece by piece, since a parsed file of 100 MB takes ten times as much memory, and leniently: several values behind
 * each other, comments and missing signs are taken as they are.
 */
import type { Passage } from '../parts.ts';
import { textOf } from './lines.ts';
import { invalid } from './refusal.ts';

const maxDepth = 1_000;
/** A line is handed on when it gets longer, a text of more in parts. */
const longestLine = 1_000;
const longestText = 8_192;
/** Of a path the innermost names say most. */
const shownNames = 5;
const longestName = 80;

interface Level {
  readonly isList: boolean;
  /** In a list the place, else the name that comes before a value. */
  name: string | number;
}

export function* readJson(bytes: Buffer): Generator<Passage> {
  const levels: Level[] = [];
  let line: string[] = [];
  let length = 0;

  function flush(): Passage[] {
    const values = line;
    line = [];
    length = 0;
    if (values.length === 0) return [];
    const path = pathOf(levels.slice(0, -1));
    const text = (path === '' ? '' : `${path}: `) + values.join('; ');
    return [{ text, headings: [], form: 'rows' }];
  }

  function add(value: string): Passage[] {
    const level = levels.at(-1);
    const label = level === undefined || level.isList ? '' : `${level.name} `;
    if (value.trim() !== '') {
      line.push(label + value);
      length += label.length + value.length;
    }
    if (level?.isList === true && typeof level.name === 'number') level.name++;
    return length > longestLine ? flush() : [];
  }

  function open(isList: boolean): Passage[] {
    const passages = flush();
    levels.push({ isList, name: isList ? 0 : '' });
    if (levels.length > maxDepth)
      throw invalid(`The JSON is nested deeper than ${maxDepth} levels: send a flatter one`);
    return passages;
  }

  function close(): Passage[] {
    const passages = flush();
    levels.pop();
    const level = levels.at(-1);
    if (level?.isList === true && typeof level.name === 'number') level.name++;
    return passages;
  }

  let isName = false;
  for (const { type, text } of tokensOf(bytes)) {
    const level = levels.at(-1);
    if (type === 'value' && isName && level?.isList === false) level.name = text.slice(0, longestName);
    else if (type === 'value') yield* add(text);
    else if (text === '{' || text === '[') yield* open(text === '[');
    else if (text === '}' || text === ']') yield* close();
    const within = levels.at(-1);
    // Before a colon it is a name, behind it a value.
    if (type === 'sign') isName = within?.isList === false && text !== ':';
  }
  yield* flush();
}

function pathOf(levels: readonly Level[]): string {
  const shown = levels.slice(-shownNames);
  const path = shown.map(({ isList, name }) => (isList ? `[${name}]` : `.${name}`)).join('');
  return (levels.length > shown.length ? '…' : '') + path.replace(/^\./, '');
}

interface Token {
  readonly type: 'sign' | 'value';
  readonly text: string;
}

const signs = new Set('{}[]:,');
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: ' ', b: ' ', f: ' ' };
/** What may follow each other without anything to decide in between. */
const plainRun = /[^"\\]+/y;
const bareRun = /[^\s{}[\]:,"]+/y;

/** A text or word that is longer than the limit comes as several values. */
function* tokensOf(bytes: Buffer): Generator<Token> {
  let value = '';
  let state: 'between' | 'text' | 'escape' | 'bare' = 'between';
  let code: string | undefined;
  for (const text of textOf(bytes)) {
    for (let at = 0; at < text.length; ) {
      const character = text[at] as string;
      if (state === 'escape') {
        at++;
        if (code !== undefined) code += character;
        else if (character === 'u') code = '';
        if (code === undefined) value += escapes[character] ?? character;
        else if (code.length === 4) value += String.fromCharCode(Number.parseInt(code, 16) || 0xfffd);
        else continue;
        code = undefined;
        state = 'text';
      } else if (state === 'text') {
        if (character === '"') {
          yield { type: 'value', text: value.toWellFormed() };
          value = '';
          state = 'between';
          at++;
        } else if (character === '\\') {
          state = 'escape';
          at++;
        } else {
          const run = runAt(plainRun, text, at);
          value += run;
          at += run.length;
        }
      } else {
        const run = runAt(bareRun, text, at);
        value += run;
        at += run.length;
        state = run === '' ? state : 'bare';
        if (run === '') {
          if (state === 'bare') yield { type: 'value', text: value };
          if (state === 'bare') value = '';
          state = character === '"' ? 'text' : 'between';
          if (signs.has(character)) yield { type: 'sign', text: character };
          at++;
        }
      }
      if (value.length > longestText) {
        yield { type: 'value', text: value.toWellFormed() };
        value = '';
      }
    }
  }
  if (value !== '') yield { type: 'value', text: value.toWellFormed() };
}

function runAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
