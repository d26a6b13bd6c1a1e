/** Reads a source file for the architecture test: what it imports, and the few things that only some files may do. */
import { posix } from 'node:path';
import {
  descendants,
  isIdentifier,
  isMember,
  isNode,
  literalText,
  parseTypeScript,
  type SyntaxNode,
} from '../../scripts/syntax.ts';

export interface Import {
  /** A file of ours as a path from the root of the repository, or a package's name as it was written. */
  target: string;
  /** `type`: erased before the code runs. `url`: a file named for a worker or a child process. */
  how: 'static' | 'dynamic' | 'type' | 'url';
}

export interface SourceFile {
  imports: readonly Import[];
  lines: number;
  defaultExport: boolean;
  readsEnvironment: boolean;
  callsGlobalFetch: boolean;
}

export function parseSource(path: string, source: string): SourceFile {
  const { tree, stripped } = parseTypeScript(source);
  const nodes = [...descendants(tree)];
  const imports = [...nodes.flatMap(importsOf), ...typeImports(source, stripped)];
  return {
    imports: imports.map(({ target, how }) => ({ target: resolve(path, target), how })),
    lines: source.trimEnd().split('\n').length,
    defaultExport: nodes.some(isDefaultExport),
    readsEnvironment: nodes.some(readsEnvironment),
    callsGlobalFetch: nodes.some(callsGlobalFetch),
  };
}

function resolve(from: string, target: string): string {
  return target.startsWith('.') ? posix.join(posix.dirname(from), target) : target;
}

function importsOf(node: SyntaxNode): Import[] {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return named(node['source'], 'static');
    case 'ImportExpression':
      return named(node['source'], 'dynamic');
    case 'NewExpression': {
      const [target, base] = node['arguments'] as SyntaxNode[];
      return isIdentifier(node['callee'], 'URL') && isImportMetaUrl(base) ? named(target, 'url') : [];
    }
    default:
      return [];
  }
}

function named(source: unknown, how: Import['how']): Import[] {
  const target = literalText(source);
  return target === undefined ? [] : [{ target, how }];
}

function isImportMetaUrl(node: unknown): boolean {
  return (
    isNode(node) &&
    node.type === 'MemberExpression' &&
    isNode(node['object']) &&
    node['object'].type === 'MetaProperty' &&
    isIdentifier(node['property'], 'url')
  );
}

/**
 * Imports of types are gone from the tree. They are found in the text, and a find counts when its first line
 * is gone from the stripped text: what stands in a comment or a string stays there.
 */
function typeImports(source: string, stripped: string): Import[] {
  const strippedLines = stripped.split('\n');
  const found: Import[] = [];
  const statement = /\b(?:import|export)\s+type\b[^;'"]*?from\s*['"]([^'"]+)['"]/g;
  const inline = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  for (const match of [...source.matchAll(statement), ...source.matchAll(inline)]) {
    const line = source.slice(0, match.index).split('\n').length - 1;
    const firstLine = match[0].split('\n')[0] ?? '';
    if (!strippedLines[line]?.includes(firstLine)) found.push({ target: match[1] ?? '', how: 'type' });
  }
  return found;
}

function isDefaultExport(node: SyntaxNode): boolean {
  return (
    node.type === 'ExportDefaultDeclaration' ||
    (node.type === 'ExportSpecifier' && isIdentifier(node['exported'], 'default'))
  );
}

function readsEnvironment(node: SyntaxNode): boolean {
  if (isMember(node, 'process', 'env')) return true;
  if (node.type === 'VariableDeclarator' && isIdentifier(node['init'], 'process')) {
    return [...descendants(node['id'] as SyntaxNode)].some((inner) => isIdentifier(inner['key'], 'env'));
  }
  const source = literalText(node['source']);
  if (node.type !== 'ImportDeclaration' || (source !== 'node:process' && source !== 'process')) return false;
  return (node['specifiers'] as SyntaxNode[]).some((specifier) => isIdentifier(specifier['imported'], 'env'));
}

function callsGlobalFetch(node: SyntaxNode): boolean {
  if (isMember(node, 'globalThis', 'fetch')) return true;
  return node.type === 'CallExpression' && isIdentifier(node['callee'], 'fetch');
}
