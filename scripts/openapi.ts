/** Writes openapi.json from the route declarations; with `--check` it only says whether the file is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { routes } from '../src/api/index.ts';
import { toOpenApi } from '../src/http/openapi.ts';
import { apiVersion } from '../src/http/version.ts';

const file = new URL('../openapi.json', import.meta.url);
const text = `${JSON.stringify(toOpenApi(routes, apiVersion), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (read() !== text) {
    console.error('openapi.json is stale: run "npm run openapi" and commit it');
    process.exitCode = 1;
  } else console.log('openapi.json is up to date');
} else {
  writeFileSync(file, text);
  console.log('openapi.json written');
}

function read(): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
