/**
 * What a subscription can read about itself, in the shapes of the model-router convention: its key, what it
 * spent, by day and model, and one generation. All keys of a subscription see the same.
 */
import { defineRoute, type Route } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { Platform } from '../../platform/index.ts';
import { toActivityEntry, toGeneration, toKey } from './render.ts';
import {
  ActivityAnswer,
  ActivityQuery,
  CreditsAnswer,
  GenerationAnswer,
  GenerationQuery,
  KeyAnswer,
} from './schema.ts';

const tag = 'Account';
/** Today and the days before it. */
const activityDays = 30;

const getKey = defineRoute({
  method: 'GET',
  path: '/key',
  access: 'key',
  summary: 'The key that is used, what its subscription spent, and its limits',
  tag,
  response: KeyAnswer,
  handle: async ({ caller }, { usage, limitsOf }) =>
    toKey(caller.keyName, await usage.spent(caller.subscriptionId), limitsOf()),
});

const getCredits = defineRoute({
  method: 'GET',
  path: '/credits',
  access: 'key',
  summary: 'What the subscription spent in all',
  tag,
  response: CreditsAnswer,
  // Nothing is bought in advance, so no credits were: what was used is the operator's to charge.
  handle: async ({ caller }, { usage }) => ({
    data: { total_credits: 0, total_usage: toUsd((await usage.spent(caller.subscriptionId)).total) },
  }),
});

const getActivity = defineRoute({
  method: 'GET',
  path: '/activity',
  access: 'key',
  summary: 'What the subscription used by day and model, over the last 30 days or on one day',
  tag,
  query: ActivityQuery,
  response: ActivityAnswer,
  async handle({ caller, query: { date } }, { usage, catalog }) {
    const range =
      date === undefined
        ? { from: usage.today(activityDays - 1), to: usage.today() }
        : { from: toDay(date), to: date };
    const rows = await usage.byDayAndModel(caller.subscriptionId, range);
    return { data: rows.map((row) => toActivityEntry(row, providerOf(catalog, row.modelId))) };
  },
});

const getGeneration = defineRoute({
  method: 'GET',
  path: '/generation',
  access: 'key',
  summary: 'One generation, by the id that its answer carried',
  tag,
  query: GenerationQuery,
  response: GenerationAnswer,
  failures: ['not_found'],
  async handle({ caller, query: { id } }, { usage, catalog }) {
    // The answer's body and its header name the same generation.
    const row = await usage.generation(caller.subscriptionId, id.replace(/^chatcmpl-/, 'gen_'));
    if (row === undefined) {
      throw new GatewayError('not_found', `There is no generation ${quoted(id)}`, {
        param: 'id',
      });
    }
    return toGeneration(row, providerOf(catalog, row.modelId));
  },
});

export const accountRoutes: readonly Route[] = [getKey, getCredits, getActivity, getGeneration];

/** A day that exists. */
function toDay(date: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // February 30 is read as March 2.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return date;
  throw new GatewayError('invalid_request', 'date must be a day such as 2026-11-15', { param: 'date' });
}

/** Who made the model; a model that is no longer offered is only known by its id. */
function providerOf(catalog: Platform['catalog'], modelId: string): string {
  return catalog.find(modelId)?.author ?? 'roundhouse';
}
