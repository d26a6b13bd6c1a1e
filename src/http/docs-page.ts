/** The API's description as one readable page: no script, nothing fetched, made from the OpenAPI document. */
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';

export function toDocsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(document.info.title)} API ${escapeHtml(document.info.version)}</title><style>${style}</style></head><body>
<nav><h1>${escapeHtml(document.info.title)}</h1><p>API ${escapeHtml(document.info.version)} · <a href="openapi.json">openapi.json</a></p>
${groups.map((group) => `<h2>${escapeHtml(group.name)}</h2><ul>${group.operations.map(link).join('')}</ul>`).join('')}
</nav><main><p class="lead">${escapeHtml(document.info.description)}</p>
<p>Every path is relative to a base address that ends in <code>/v1</code>. Send your key as
<code>Authorization: Bearer …</code> or <code>x-api-key: …</code>.</p>
${groups.map((group) => `<h2>${escapeHtml(group.name)}</h2>${group.operations.map(section).join('')}`).join('')}
</main></body></html>
`;
}

interface Listed {
  method: string;
  path: string;
  operation: Operation;
}

const link = ({ method, path, operation }: Listed) =>
  `<li><a href="#${operation.operationId}"><b>${method}</b> ${escapeHtml(path)}</a></li>`;

function section({ method, path, operation }: Listed): string {
  const schemes = operation.security.flatMap((scheme) => Object.keys(scheme));
  const access = accessOf(schemes);
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  return `<section id="${operation.operationId}"><h3><b class="${method}">${method}</b> ${escapeHtml(path)} <small>${access}</small></h3>
<p>${inline(operation.summary)}${operation.servers === undefined ? '' : ' (at the root of the host, without <code>/v1</code>)'}</p>
${parameters(operation.parameters ?? [])}
${bodies.map(([type, { schema }]) => details(`Body · ${type}`, schema)).join('')}
${Object.entries(operation.responses)
  .map(([status, answer]) => response(status, answer))
  .join('')}</section>`;
}

function accessOf(schemes: readonly string[]): string {
  if (schemes.length === 0) return 'public';
  if (schemes.includes('operator')) return 'operator';
  return schemes.includes('link') ? 'key or signed link' : 'key';
}

function parameters(list: readonly Parameter[]): string {
  if (list.length === 0) return '';
  const rows = list.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td>${parameter.in}${parameter.required ? ', required' : ''}</td>` +
      `<td>${escapeHtml(inWords(parameter.schema))}</td><td>${inline(parameter.description ?? '')}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function response(status: string, answer: Operation['responses'][string]): string {
  const schema = answer.content?.['application/json']?.schema;
  const isOwn = schema !== undefined && !('$ref' in (schema as object));
  const title = `${status} · ${answer.description}`;
  return isOwn ? details(title, schema) : `<p class="status">${escapeHtml(title)}</p>`;
}

function details(title: string, schema: unknown): string {
  return `<details><summary>${escapeHtml(title)}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`;
}

function inWords(schema: unknown): string {
  const {
    type,
    minimum,
    maximum,
    enum: values,
  } = schema as { type?: string; minimum?: number; maximum?: number; enum?: unknown[] };
  const bounds = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ];
  return [type ?? '', values === undefined ? '' : values.join(' | '), ...bounds]
    .filter((word) => word !== '')
    .join(', ');
}

/** Backticks as code. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent)}
body{margin:0;font:15px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:20rem 1fr}
nav{border-right:1px solid var(--line);padding:1rem 1.25rem;height:100vh;overflow:auto;position:sticky;top:0;box-sizing:border-box}
nav ul{list-style:none;padding:0;margin:0}nav li{font-size:13px}nav a{color:inherit;text-decoration:none}nav a:hover{text-decoration:underline}
nav h2{font-size:13px;margin:1rem 0 .25rem;opacity:.7}h1{margin:0;font-size:1.4rem}
main{padding:1rem 2.5rem 4rem;max-width:60rem}.lead{font-size:1.1rem}
section{border-top:1px solid var(--line);padding:.5rem 0 1rem}h3{font-family:ui-monospace,monospace;font-size:1rem;margin:.75rem 0 .25rem}
h3 b{display:inline-block;min-width:4.5rem;color:#2b7}h3 b.POST{color:#27c}h3 b.DELETE{color:#c44}h3 b.PATCH{color:#b80}
small{border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;font-weight:400}
table{border-collapse:collapse;font-size:14px}td{border-bottom:1px solid var(--line);padding:.25rem .75rem .25rem 0;vertical-align:top}
pre{overflow:auto;font-size:12px;background:color-mix(in srgb,currentColor 6%,transparent);padding:.75rem;border-radius:.4rem}
.status,summary{font-size:14px;margin:.25rem 0}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}main{padding:1rem}}
`;
