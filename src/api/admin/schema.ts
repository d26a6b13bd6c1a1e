/** What the admin routes take and answer. Times are Unix seconds. */
import Type, { type TSchema } from 'typebox';

/** Shown in tables on a terminal: no control or formatting characters, and no blank at either end. */
const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\s\\p{C}](?:[^\\p{C}]*[^\\s\\p{C}])?$',
});
/** Up to the year 9999, so that its milliseconds stay an exact number. */
const unixSeconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const SubscriptionBody = Type.Object({ name }, { additionalProperties: false });

export const KeyBody = Type.Object(
  {
    subscription: Type.Optional(
      Type.String({ minLength: 1, description: 'id or name; `default` when absent' }),
    ),
    name: Type.Optional(name),
    expires_at: Type.Optional(orNull(unixSeconds)),
  },
  { additionalProperties: false },
);

export const ExpireBody = Type.Object(
  { expires_at: Type.Optional(orNull(unixSeconds)) },
  { additionalProperties: false, description: 'absent: at once; null: never' },
);

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  after: Type.Optional(Type.String({ description: 'the id of the last record already seen' })),
};

export const SubscriptionsQuery = Type.Object(page);
export const KeysQuery = Type.Object({
  ...page,
  subscription: Type.Optional(Type.String({ minLength: 1, description: 'id or name' })),
});

const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'a day in UTC: 2026-11-15' });
const usageGroup = Type.Enum(['day', 'model', 'subscription']);

export const UsageQuery = Type.Object({
  subscription: Type.Optional(Type.String({ minLength: 1, description: 'id or name; all when absent' })),
  from: Type.Optional(day),
  to: Type.Optional(day),
  by: Type.Optional(usageGroup),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
});

export const SubscriptionEntry = Type.Object({
  object: Type.Literal('subscription'),
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(['active', 'suspended', 'closed']),
  created_at: unixSeconds,
  closed_at: orNull(unixSeconds),
});

const keyEntry = {
  object: Type.Literal('key'),
  id: Type.String(),
  subscription_id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'the first characters of the secret' }),
  status: Type.Enum(['active', 'suspended', 'revoked']),
  created_at: unixSeconds,
  expires_at: orNull(unixSeconds),
  revoked_at: orNull(unixSeconds),
};

export const KeyEntry = Type.Object(keyEntry);
export const NewKeyEntry = Type.Object({
  ...keyEntry,
  secret: Type.String({ description: 'shown this once' }),
});

const count = Type.Integer({ minimum: 0 });
const sums = {
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  reasoning_tokens: count,
  megapixels: Type.Number(),
  seconds: Type.Number(),
  cost: Type.Number({ description: 'dollars' }),
};

export const UsageList = Type.Object({
  object: Type.Literal('list'),
  by: usageGroup,
  from: day,
  to: day,
  data: Type.Array(
    Type.Object({
      object: Type.Literal('usage'),
      group: Type.String({ description: 'the day, the model id or the subscription id' }),
      ...sums,
    }),
  ),
  total: Type.Object(sums, { description: 'also of the groups beyond the limit' }),
  has_more: Type.Boolean(),
});

export const SubscriptionList = listOf(SubscriptionEntry);
export const KeyList = listOf(KeyEntry);

function listOf<S extends TSchema>(entry: S) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(entry), has_more: Type.Boolean() });
}
