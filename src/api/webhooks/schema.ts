/** What the secret routes answer. Times are Unix seconds. */
import Type from 'typebox';

export const SecretAnswer = Type.Object(
  {
    object: Type.Literal('webhook.secret'),
    secret: Type.String({ pattern: '^whsec_[A-Za-z0-9_-]{43}$', description: 'the whole of it signs' }),
    created_at: Type.Integer(),
    previous_secret_expires_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'until then the secret before it signs too',
    }),
  },
  { additionalProperties: false },
);
