/** What the admin routes of jobs take and answer. Times are Unix seconds. */
import Type, { type TSchema } from 'typebox';
import { jobErrorCodes, jobStatuses } from '../../platform/jobs/index.ts';

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const unixSeconds = Type.Integer();
const kind = Type.Enum(['video', 'music']);
const status = Type.Enum([...jobStatuses]);

export const JobsQuery = Type.Object({
  subscription: Type.Optional(Type.String({ minLength: 1, description: 'id or name; all when absent' })),
  kind: Type.Optional(kind),
  model: Type.Optional(Type.String({ minLength: 1 })),
  status: Type.Optional(status),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  after: Type.Optional(Type.String({ description: 'the id of the last record already seen' })),
});

export const JobEntry = Type.Object({
  object: Type.Literal('job'),
  id: Type.String(),
  kind,
  subscription_id: Type.String(),
  key_id: Type.String(),
  model: Type.String(),
  status,
  created_at: unixSeconds,
  started_at: orNull(unixSeconds),
  completed_at: orNull(unixSeconds),
  expires_at: orNull(unixSeconds),
  queue_position: orNull(Type.Integer({ minimum: 0, description: 'only while pending' })),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  attempt: Type.Integer({ minimum: 0, description: 'the runs so far, also those that were interrupted' }),
  outputs: Type.Integer({ minimum: 0, description: 'how many files it has made' }),
  billed_seconds: Type.Integer({ description: 'what completing it bills' }),
  cost: orNull(
    Type.Number({ description: 'dollars; only of one that completed, where its model has a price' }),
  ),
  callback_url: orNull(Type.String()),
  error: orNull(Type.String()),
  error_code: orNull(Type.Enum([...jobErrorCodes])),
});

export const JobEntryList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(JobEntry),
  has_more: Type.Boolean(),
});
