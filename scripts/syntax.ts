/** Reads TypeScript as a syntax tree: Node takes the types off, the parser that comes with Vite does the rest. */
import { stripTypeScriptTypes } from 'node:module';
import { parseAst } from 'vite';

export interface SyntaxNode {
  type: string;
  [field: string]: unknown;
}

export interface Syntax {
  tree: SyntaxNode;
  /** The source without its types, line by line as it was. */
  stripped: string;
}

export function parseTypeScript(source: string): Syntax {
  const stripped = stripTypeScriptTypes(source, { mode: 'strip' });
  return { tree: parseAst(stripped) as unknown as SyntaxNode, stripped };
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** The nodes directly inside one, in source order. */
export function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flat().filter(isNode);
}

export function* descendants(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const child of children(node)) yield* descendants(child);
}

/** The text of a string literal, or of a template without holes. */
export function literalText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type !== 'TemplateLiteral') return undefined;
  const quasis = node['quasis'] as { value: { cooked: string } }[];
  return quasis.length === 1 ? quasis[0]?.value.cooked : undefined;
}

export function isIdentifier(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node['name'] === name;
}

/** `a.b` written as a member access, computed or not. */
export function isMember(node: unknown, object: string, property: string): boolean {
  if (!isNode(node) || node.type !== 'MemberExpression' || !isIdentifier(node['object'], object))
    return false;
  return isIdentifier(node['property'], property) || literalText(node['property']) === property;
}
