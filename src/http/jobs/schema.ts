/** What the routes of every kind of job take and answer. */
import Type, { type Static, type TSchema } from 'typebox';

const closed = { additionalProperties: false } as const;
const seconds = Type.Union([Type.Integer(), Type.Null()], { description: 'Unix seconds' });

/** The members that every kind has. */
export const commonJobMembers = {
  id: Type.String(),
  model: Type.String(),
  status: Type.Enum(['pending', 'queued', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'], {
    description: '`queued` is what OpenAI clients read for `pending`.',
  }),
  polling_url: Type.String(),
  created_at: Type.Integer({ description: 'Unix seconds' }),
  started_at: seconds,
  completed_at: seconds,
  expires_at: seconds,
  queue_position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'While pending: jobs ahead for the same model.' }),
  ),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Estimated; never falls.' }),
  generation_id: Type.String(),
  unsigned_urls: Type.Optional(Type.Array(Type.String())),
  usage: Type.Optional(
    Type.Object({ billed_seconds: Type.Integer(), cost: Type.Optional(Type.Number()) }, closed),
  ),
  error: Type.Optional(
    Type.Union([
      Type.String(),
      Type.Object({ code: Type.String(), message: Type.String() }, closed),
      Type.Null(),
    ]),
  ),
  error_code: Type.Optional(Type.String()),
};

export const JobListQuery = Type.Object({
  after: Type.Optional(Type.String({ minLength: 1, description: 'The id after which the page begins' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
});

export const ContentQuery = Type.Object({
  index: Type.Optional(Type.Integer({ minimum: 0 })),
  variant: Type.Optional(Type.String()),
  exp: Type.Optional(Type.String()),
  sig: Type.Optional(Type.String()),
});
export type ContentQuery = Static<typeof ContentQuery>;

export function listOf<S extends TSchema>(job: S) {
  const id = Type.Union([Type.String(), Type.Null()]);
  return Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(job),
      first_id: id,
      last_id: id,
      has_more: Type.Boolean(),
    },
    closed,
  );
}

/** A job that was cancelled is answered whole, one that had ended is gone. */
export function removalOf<S extends TSchema>(job: S, object: string) {
  const deleted = Type.Object(
    { id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) },
    closed,
  );
  return Type.Union([job, deleted]);
}
