/** What the vector store routes take and answer. Null means omitted; unknown fields are ignored. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Answers are closed, so that a test finds what should not be there. */
function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** OpenAI's bounds: up to 16 entries with names of up to 64 characters and texts of up to 512. */
function entries<S extends TSchema>(value: S, description: string) {
  return Type.Record(Type.String({ pattern: '^[\\s\\S]{1,64}$' }), value, {
    additionalProperties: false,
    maxProperties: 16,
    description,
  });
}

const shortText = Type.String({ maxLength: 512 });
const name = Type.String({ maxLength: 256 });
const longText = Type.String({ maxLength: 8192 });
const metadata = entries(shortText, 'Texts by name, for the client itself');
const Attributes = entries(
  Type.Union([shortText, Type.Number(), Type.Boolean()]),
  'Texts, numbers and booleans by name, for filters. In a form: one field of JSON, or a field for each name (`attributes[name]`), whose value is then a text',
);

export const CreateBody = Type.Object({
  name: optional(name),
  description: optional(longText),
  metadata: optional(metadata),
  model: optional(
    Type.String({ description: 'The embedding model, for good. Omitted: the default embedding model' }),
  ),
  /** Accepted and ignored: files are cut by their own structure. */
  chunking_strategy: Type.Optional(Type.Unknown()),
  file_ids: Type.Optional(Type.Unknown({ description: 'Not supported: files are uploaded to a collection' })),
  expires_after: Type.Optional(Type.Unknown({ description: 'Not supported: collections do not expire' })),
});
export type CreateBody = Static<typeof CreateBody>;

export const ChangeBody = Type.Object({
  name: optional(name),
  description: optional(longText),
  metadata: optional(metadata),
  expires_after: Type.Optional(Type.Unknown({ description: 'Not supported: collections do not expire' })),
});
export type ChangeBody = Static<typeof ChangeBody>;

const listQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 20' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By the time of their making' })),
  after: Type.Optional(Type.String({ minLength: 1, description: 'The id after which the page begins' })),
  before: Type.Optional(Type.String({ minLength: 1, description: 'The id before which the page ends' })),
};

const FileStatus = Type.Enum(['in_progress', 'completed', 'failed', 'cancelled']);

export const CollectionListQuery = Type.Object(listQuery);
export const FileListQuery = Type.Object({ ...listQuery, filter: Type.Optional(FileStatus) });
export const ItemListQuery = Type.Object({
  ...listQuery,
  file_id: Type.Optional(Type.String({ minLength: 1, description: 'Only the items of this file' })),
});
export type ListQuery = Static<typeof CollectionListQuery>;

export const FileFields = Type.Object({ attributes: optional(Attributes) });

export const DescribeBody = Type.Object({
  description: Type.String({
    maxLength: 8192,
    description: 'What the item is about: found and embedded with its text',
  }),
});

const key = Type.String({ minLength: 1, maxLength: 64, description: 'The name of an attribute' });
const Comparison = Type.Union([
  Type.Object({
    type: Type.Enum(['eq', 'ne']),
    key,
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
  }),
  Type.Object({
    type: Type.Enum(['gt', 'gte', 'lt', 'lte']),
    key,
    value: Type.Union([Type.String(), Type.Number()]),
  }),
  Type.Object({
    type: Type.Enum(['in', 'nin']),
    key,
    value: Type.Array(Type.Union([Type.String(), Type.Number()]), { minItems: 1, maxItems: 100 }),
  }),
]);

const compound = <S extends TSchema>(inner: S) =>
  Type.Object({ type: Type.Enum(['and', 'or']), filters: Type.Array(inner, { minItems: 1, maxItems: 32 }) });

/** Written out to the depth that is allowed, so that no filter can be deeper than what reads it. */
const Inner = Type.Union([...Comparison.anyOf, compound(Comparison)]);
const Middle = Type.Union([...Comparison.anyOf, compound(Inner)]);
const Filters = Type.Union([...Comparison.anyOf, compound(Middle)], {
  description: 'By the attributes of files: a comparison, or several with `and` or `or`, up to three deep',
});
export type Filters = Static<typeof Filters>;

const queryText = Type.String({ minLength: 1, maxLength: 32_768 });

export const maxSearchFiles = 50;

export const SearchBody = Type.Object({
  input: optional(Type.String({ minLength: 1, maxLength: 32_768, description: 'The text to search for' })),
  query: optional(
    Type.Union([queryText, Type.Array(queryText, { minItems: 1, maxItems: 1 })], {
      description: 'An alias of `input`',
    }),
  ),
  max_num_results: optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Default 10' })),
  filters: optional(Filters),
  file_ids: optional(
    Type.Array(Type.String(), { minItems: 1, maxItems: maxSearchFiles, description: 'Only in these files' }),
  ),
  ranking_options: optional(
    Type.Object({
      ranker: optional(Type.String({ description: 'Accepted and ignored' })),
      score_threshold: optional(Type.Number({ minimum: 0, maximum: 1 })),
    }),
  ),
  rewrite_query: optional(Type.Boolean({ description: 'Accepted and ignored: the text is used as written' })),
});
export type SearchBody = Static<typeof SearchBody>;

const count = Type.Integer({ minimum: 0 });
const seconds = Type.Integer({ description: 'Unix seconds' });
const collectionId = Type.String({ pattern: '^vs_[0-9a-f]{24}$' });
const fileId = Type.String({ pattern: '^file_[0-9a-f]{24}$' });
const itemId = Type.String({ pattern: '^item_[0-9a-f]{24}$' });
const content = Type.Array(closed({ type: Type.Literal('text'), text: Type.String() }));

export const VectorStore = closed({
  id: collectionId,
  object: Type.Literal('vector_store'),
  name: Type.String(),
  description: Type.String(),
  created_at: seconds,
  last_active_at: seconds,
  metadata,
  status: Type.Enum(['in_progress', 'completed']),
  usage_bytes: count,
  file_counts: closed({
    in_progress: count,
    completed: count,
    failed: count,
    cancelled: count,
    total: count,
  }),
  item_count: count,
  model: Type.String(),
  expires_after: Type.Null(),
  expires_at: Type.Null(),
});
export type VectorStore = Static<typeof VectorStore>;

export const VectorStoreFile = closed({
  id: fileId,
  object: Type.Literal('vector_store.file'),
  vector_store_id: collectionId,
  filename: Type.String(),
  bytes: count,
  usage_bytes: count,
  status: FileStatus,
  last_error: Type.Union([
    closed({
      code: Type.Enum(['unsupported_file', 'invalid_file', 'server_error']),
      message: Type.String(),
    }),
    Type.Null(),
  ]),
  attributes: Attributes,
  item_count: count,
  created_at: seconds,
});
export type VectorStoreFile = Static<typeof VectorStoreFile>;

export const VectorStoreItem = closed({
  id: itemId,
  object: Type.Literal('vector_store.item'),
  vector_store_id: collectionId,
  file_id: fileId,
  filename: Type.String(),
  index: count,
  description: Type.String(),
  content,
  attributes: Attributes,
  created_at: seconds,
  updated_at: seconds,
});
export type VectorStoreItem = Static<typeof VectorStoreItem>;

export const SearchPage = closed({
  object: Type.Literal('vector_store.search_results.page'),
  search_query: Type.Array(Type.String()),
  data: Type.Array(
    closed({
      file_id: fileId,
      filename: Type.String(),
      score: Type.Number({ minimum: 0, maximum: 1 }),
      attributes: Attributes,
      content,
      item_id: itemId,
      description: Type.String(),
    }),
  ),
  has_more: Type.Literal(false),
  next_page: Type.Null(),
  usage: closed({
    prompt_tokens: count,
    total_tokens: count,
    cost: Type.Number({ description: 'Dollars billed' }),
  }),
});
export type SearchPage = Static<typeof SearchPage>;

export function listOf<S extends TSchema>(entry: S) {
  const id = Type.Union([Type.String(), Type.Null()]);
  return closed({
    object: Type.Literal('list'),
    data: Type.Array(entry),
    first_id: id,
    last_id: id,
    has_more: Type.Boolean(),
  });
}

export function removalOf(object: string) {
  return closed({ id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) });
}
