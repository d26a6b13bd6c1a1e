import { expect, it } from 'vitest';
import { toAddress } from './address.ts';

it.each([
  ['http://host:8000', '/v1', ''],
  ['http://host:8000/', '/v1', ''],
  ['http://host:8000/v1', '/v1', ''],
  ['http://host:8000/v1/', '/v1', ''],
  ['http://host:8000/qwen/v1', '/qwen/v1', '/qwen'],
  ['http://host:8000/api/paas/v4', '/api/paas/v4', '/api/paas/v4'],
])('%s has its chat under %s and its own routes under "%s"', (url, api, root) => {
  expect(toAddress(url)).toEqual({ origin: 'http://host:8000', api, root });
});
