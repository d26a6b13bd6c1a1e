/** A page of public entries by offset and limit, as `/models` and `/embeddings/models` answer it. */
import Type, { type Static } from 'typebox';
import { ModelEntry } from './entry.ts';

export const pageQuery = {
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Default 0.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Without offset and limit the whole list is returned.',
    }),
  ),
};

export const pageFields = {
  data: Type.Array(ModelEntry),
  total_count: Type.Integer({ description: 'How many models match, on all pages.' }),
  links: Type.Object(
    {
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'The rest of the list; null on the last page.',
      }),
    },
    { additionalProperties: false },
  ),
};

export const Page = Type.Object(pageFields, { additionalProperties: false });
export type Page = Static<typeof Page>;

export interface PageRequest {
  /** The list's own address, with `/v1`. */
  path: string;
  offset: number | undefined;
  limit: number | undefined;
  /** The filters that the next page must repeat in order to continue the same list. */
  filters?: Readonly<Record<string, string | undefined>>;
}

const defaultLimit = 500;

export function toPage(matches: readonly ModelEntry[], request: PageRequest): Page {
  const { offset = 0, path, filters = {} } = request;
  const whole = request.offset === undefined && request.limit === undefined;
  const limit = whole ? matches.length : (request.limit ?? defaultLimit);
  const end = offset + limit;
  const next = new URLSearchParams({ offset: String(end), limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) next.set(name, value);
  return {
    data: matches.slice(offset, end),
    total_count: matches.length,
    links: { next: end < matches.length ? `${path}?${next}` : null },
  };
}
