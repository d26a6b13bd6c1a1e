import Type from 'typebox';

const check = Type.Enum(['ok', 'failing']);

export const HealthAnswer = Type.Object({
  status: Type.Enum(['ok', 'degraded']),
  version: Type.String(),
  time: Type.Integer({ description: 'Unix seconds' }),
  uptime_seconds: Type.Integer(),
  checks: Type.Object({
    catalog: check,
    storage: check,
    engines: Type.Record(Type.String(), check, { description: 'by model: whether an engine serves it' }),
  }),
});
