import { expect, test } from 'vitest';
import { createSampleCatalog } from '../../../test/support/sample-models.ts';
import { toModelEntry } from './entry.ts';
import { toPage } from './page.ts';

const one = toModelEntry(createSampleCatalog().listed()[0]!);
const many = Array.from({ length: 1203 }, (_, index) => ({ ...one, id: `model-${index}` }));
const page = (offset?: number, limit?: number) => toPage(many, { path: '/v1/models', offset, limit });

test('[MODEL-32] without offset and limit the whole list is one page', () => {
  expect(page().data).toHaveLength(1203);
  expect(page().links.next).toBeNull();
});

test('[MODEL-32] offset alone means limit 500, and limit alone offset 0', () => {
  expect(page(0).data).toHaveLength(500);
  expect(page(0).links.next).toBe('/v1/models?offset=500&limit=500');
  expect(page(undefined, 7).data.map((entry) => entry.id)).toEqual(many.slice(0, 7).map((entry) => entry.id));
});

test('[MODEL-31] the next links lead through the whole list and end with null', () => {
  const seen: string[] = [];
  let next: string | null = '/v1/models?offset=0&limit=250';
  while (next !== null) {
    const query = new URL(next, 'http://host').searchParams;
    const answer = page(Number(query.get('offset')), Number(query.get('limit')));
    seen.push(...answer.data.map((entry) => entry.id));
    next = answer.links.next;
  }
  expect(seen).toEqual(many.map((entry) => entry.id));
});

test('[MODEL-31] links.next is null exactly from the last entry on', () => {
  expect(page(0, 1000).links.next).toBe('/v1/models?offset=1000&limit=1000');
  expect(page(1000, 203).links.next).toBeNull();
  expect(page(1000, 202).links.next).toBe('/v1/models?offset=1202&limit=202');
  expect(page(5000, 10)).toEqual({ data: [], total_count: 1203, links: { next: null } });
});

test('[MODEL-30] total_count counts every match on every page', () => {
  expect(page(1200, 1).total_count).toBe(1203);
});

test('[MODEL-31] the next link repeats the filters', () => {
  const filters = { q: 'a b&c', format: undefined };
  expect(toPage(many, { path: '/v1/models', offset: 0, limit: 1, filters }).links.next).toBe(
    '/v1/models?offset=1&limit=1&q=a+b%26c',
  );
});
