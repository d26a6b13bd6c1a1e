/**
 * Finds the titles of the tests in a file. Only a test that runs counts: a skipped, planned, commented-out or
 * expected-to-fail test proves nothing, and a group counts only when a test inside it does.
 */
import { children, descendants, isNode, literalText, parseTypeScript, type SyntaxNode } from '../syntax.ts';

/** Stands in a title for what is only known when the test runs. */
export const hole = '…';

const testNames: readonly string[] = ['it', 'test'];
const groupNames: readonly string[] = ['describe', 'suite'];
const idle: readonly string[] = ['skip', 'todo', 'fails'];

export function parseTitles(source: string): string[] {
  return titlesIn(parseTypeScript(source).tree);
}

/** The rule ids of a title: `[X-1]`, `[X-1, X-2]`, or several brackets. */
export function idsInTitle(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]+-\d+(?:\s*,\s*[A-Z]+-\d+)*)\]/g)].flatMap(([, list = '']) =>
    list.split(/\s*,\s*/),
  );
}

/** A title that fills in its ids while it runs hides them from every reader. */
export function hidesIds(title: string): boolean {
  return /^\[\s*(?:…|%[sjo]|\$[\w.]+)\s*[\],]/.test(title);
}

function titlesIn(node: SyntaxNode): string[] {
  const call = testCall(node);
  if (call === undefined) return children(node).flatMap(titlesIn);
  if (call.idle) return [];
  if (!call.group) return [call.title];
  const inside = call.rest.flatMap(titlesIn);
  return inside.length === 0 ? [] : [call.title, ...inside];
}

interface TestCall {
  title: string;
  group: boolean;
  idle: boolean;
  /** What follows the title: options and the body. */
  rest: SyntaxNode[];
}

function testCall(node: SyntaxNode): TestCall | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const words = calleeWords(node['callee']);
  const [name = '', ...modifiers] = words;
  const group = groupNames.includes(name);
  if (!group && !testNames.includes(name)) return undefined;
  const [first, ...rest] = node['arguments'] as SyntaxNode[];
  const title = titleText(first);
  // `it.each(table)` and `it.skipIf(condition)` make the function that takes the title.
  if (title === undefined) return undefined;
  const optedOut = rest.some((argument) => argument.type === 'ObjectExpression' && setsIdleOption(argument));
  return { title, group, idle: optedOut || modifiers.some((word) => idle.includes(word)), rest };
}

/** `it.concurrent.each(table)` as its words: it, concurrent, each. */
function calleeWords(callee: unknown): string[] {
  if (!isNode(callee)) return [];
  switch (callee.type) {
    case 'Identifier':
      return [String(callee['name'])];
    case 'MemberExpression':
      return [...calleeWords(callee['object']), ...calleeWords(callee['property'])];
    case 'CallExpression':
      return calleeWords(callee['callee']);
    case 'TaggedTemplateExpression':
      return calleeWords(callee['tag']);
    default:
      return [];
  }
}

function titleText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'TemplateLiteral') {
    return (node['quasis'] as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked).join(hole);
  }
  if (node.type === 'BinaryExpression') {
    const sides = [titleText(node['left']), titleText(node['right'])];
    return sides.every((side) => side === undefined) ? undefined : sides.map((side) => side ?? hole).join('');
  }
  return literalText(node);
}

/** `{ skip: true }` and its like. */
function setsIdleOption(options: SyntaxNode): boolean {
  for (const node of descendants(options)) {
    if (node.type !== 'Property') continue;
    const [key] = calleeWords(node['key']);
    const value = node['value'] as SyntaxNode;
    if (key !== undefined && idle.includes(key) && value['value'] === true) return true;
  }
  return false;
}
