/** `GET /health`: whether the service works, as a monitor with a key sees it. */
import { defineRoute } from '../../http/route.ts';
import { apiVersion } from '../../http/version.ts';
import { HealthAnswer } from './schema.ts';

export const getHealth = defineRoute({
  method: 'GET',
  path: '/health',
  access: 'key',
  summary: 'Whether the service works. A degraded service still answers 200.',
  tag: 'Service',
  response: HealthAnswer,
  failures: ['overloaded'],
  async handle(_call, { health }) {
    const { isWell, time, uptimeSeconds, storage, engines } = await health.check();
    return {
      status: isWell ? 'ok' : 'degraded',
      version: apiVersion,
      time,
      uptime_seconds: uptimeSeconds,
      checks: { catalog: 'ok', storage, engines },
    };
  },
});
