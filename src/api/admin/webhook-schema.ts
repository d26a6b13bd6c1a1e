/** What the admin routes of webhook deliveries take and answer. Times are Unix seconds. */
import Type, { type TSchema } from 'typebox';

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const unixSeconds = Type.Integer();
const status = Type.Enum(['waiting', 'delivered', 'given_up']);

export const DeliveriesQuery = Type.Object({
  subscription: Type.Optional(Type.String({ minLength: 1, description: 'id or name; all when absent' })),
  job: Type.Optional(Type.String({ minLength: 1, description: 'the id of a job' })),
  status: Type.Optional(status),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  after: Type.Optional(Type.String({ description: 'the id of the last record already seen' })),
});

const entry = {
  object: Type.Literal('webhook.delivery'),
  id: Type.String({ description: 'the idempotency key that the receiver gets' }),
  subscription_id: Type.String(),
  job_id: Type.String(),
  type: Type.String({ description: 'such as `video.generation.completed`' }),
  url: Type.String(),
  status,
  attempts: Type.Integer({ minimum: 0, maximum: 6 }),
  created_at: unixSeconds,
  next_attempt_at: orNull(unixSeconds),
  last_status: orNull(Type.Integer({ description: 'of the answer to the last attempt' })),
  last_error: orNull(Type.String({ description: 'why the last attempt did not count' })),
  delivered_at: orNull(unixSeconds),
};

export const DeliveryEntry = Type.Object(entry);
export const DeliveryDetail = Type.Object({
  ...entry,
  body: Type.String({ description: 'the exact text that every attempt sends' }),
});
export const DeliveryList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(DeliveryEntry),
  has_more: Type.Boolean(),
});
