/** The table of contents: the only place that constructs things, in the order in which they stand on each other. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobKinds, routes } from './api/index.ts';
import type { Config } from './config.ts';
import { engineKinds } from './engines/index.ts';
import { type App, createApp } from './http/app.ts';
import type { Route } from './http/route.ts';
import type { Log } from './lib/log.ts';
import { createSafeFetch } from './lib/safe-fetch.ts';
import { type Accounts, createAccounts } from './platform/accounts/index.ts';
import { createAdmission, type Limits } from './platform/admission/index.ts';
import { createAttachments } from './platform/attachments/index.ts';
import { createBilling } from './platform/billing/index.ts';
import { createCatalog, type Model } from './platform/catalog/index.ts';
import { createEngines } from './platform/engines/index.ts';
import { createHealth } from './platform/health/index.ts';
import { createIdempotency } from './platform/idempotency/index.ts';
import type { Platform } from './platform/index.ts';
import { createInference } from './platform/inference/index.ts';
import { createJobs } from './platform/jobs/index.ts';
import { createMedia, createStudio } from './platform/media/index.ts';
import { createLinks, createObjects } from './platform/objects/index.ts';
import { createPictures } from './platform/pictures/index.ts';
import { createRecordings } from './platform/recordings/index.ts';
import { createResponses } from './platform/responses/index.ts';
import { createScratch } from './platform/scratch/index.ts';
import { createSignatures } from './platform/signatures/index.ts';
import { createVectors } from './platform/vectors/index.ts';
import { createWebhooks } from './platform/webhooks/index.ts';
import { openDatabase } from './storage/index.ts';
import { migrate } from './storage/migrate.ts';

export interface House {
  readonly app: App;
  readonly platform: Platform;
  /** The key that was made on the very first start: it is shown once and cannot be read again. */
  readonly firstKey: string | undefined;
  /** Reads the configuration file again. Throws, and keeps what there is, when it is wrong. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface Parts {
  config: Config;
  log: Log;
  now?: () => number;
  /** Tests put parts of their own here. */
  extraRoutes?: readonly Route[];
  platform?: Partial<Platform>;
}

export const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url));

export async function compose({
  config,
  log,
  now = Date.now,
  extraRoutes = [],
  platform: given = {},
}: Parts): Promise<House> {
  // Closed in the reverse order, also when a later part fails to open.
  const opened = new AsyncDisposableStack();
  const open = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.defer(() => part.close());
    return part;
  };
  try {
    // The catalogue first: a mistake in the configuration is told before anything is opened.
    const { settings, secret, databaseUrl, dataFolder } = config;
    let current = settings;
    const catalog = createCatalog({ settings, engineKinds });
    const studio = open(createStudio({ log }));
    const engines = open(
      createEngines({ kinds: engineKinds, settings: settings.engines, secret, dataFolder, studio, log, now }),
    );

    const database = open(await openDatabase({ databaseUrl, folder: dataFolder, log }));
    await migrate(database, { folder: migrationsFolder, log });

    const accounts = open(createAccounts({ database, now, log }));
    await accounts.start();
    const firstKey = await openDefaultSubscription(accounts, config.apiKeySeed);

    const billing = open(createBilling({ database, folder: dataFolder, now, log }));
    await billing.start();
    const admission = open(createAdmission());
    const limitsOf = createLimits(() => current.limits);
    const inference = open(createInference({ admission, billing, engines, limitsOf, now, log }));

    const safeFetch = open(createSafeFetch({ allowedNetworks: settings.egress.allowedNetworks }));
    const attachments = open(createAttachments({ safeFetch }));
    const media = open(createMedia({ log }));
    const pictures = open(createPictures({ log }));
    const objects = open(createObjects({ folder: join(dataFolder, 'objects'), log, now }));
    const scratch = open(createScratch({ folder: join(dataFolder, 'scratch'), log, now }));

    const retentionDays = () => current.responses.retentionDays;
    // SQLite belongs to this process alone.
    const journalFolder = database.dialect === 'sqlite' ? join(dataFolder, 'responses') : undefined;
    const responses = open(createResponses({ database, now, log, retentionDays, journalFolder }));
    const signatures = createSignatures({ database, now });
    await signatures.start();
    const links = createLinks({ signatures, now });

    const idempotency = open(createIdempotency({ database, objects, now, log }));
    const webhooks = open(createWebhooks({ database, safeFetch, now, log, settings: settings.webhooks }));
    await webhooks.start();
    const recordings = open(createRecordings({ folder: dataFolder, now, log }));
    const jobs = open(
      createJobs({
        database,
        objects,
        media,
        recordings,
        webhooks,
        links,
        engines,
        catalog,
        kinds: jobKinds,
        now,
        log,
        settings: () => current.jobs,
      }),
    );
    jobs.start();
    const vectors = open(createVectors({ database, objects, catalog, engines, inference, now, log }));
    vectors.start();

    const health = createHealth({ catalog, database, engines, now });
    const { usage } = billing;
    const platform: Platform = {
      accounts,
      attachments,
      catalog,
      health,
      idempotency,
      inference,
      jobs,
      links,
      media,
      objects,
      pictures,
      recordings,
      responses,
      scratch,
      signatures,
      usage,
      vectors,
      webhooks,
      limitsOf,
      publicUrl: () => current.server.publicUrl,
      ...given,
    };
    return {
      app: createApp({ routes: [...routes, ...extraRoutes], platform, log, adminToken: config.adminToken }),
      platform,
      firstKey,
      async reload() {
        const next = config.readSettings();
        // All or nothing: either may refuse the new settings.
        const change = engines.prepare(next.engines);
        try {
          catalog.replace(next);
        } catch (error) {
          await change.discard();
          throw error;
        }
        change.commit();
        current = next;
        log.info({ models: next.models.length }, 'configuration read');
      },
      close: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** The limits of a model, the same object as long as nothing changes: admission notices a change by that. */
function createLimits(usual: () => Limits): (model?: Model) => Limits {
  let basis = usual();
  let known = new WeakMap<Model, Limits>();
  return (model) => {
    if (basis !== usual()) {
      basis = usual();
      known = new WeakMap();
    }
    if (model?.limits === undefined) return basis;
    let limits = known.get(model);
    if (limits === undefined) {
      limits = { ...basis, ...model.limits };
      known.set(model, limits);
    }
    return limits;
  };
}

/** On the very first start it has a key made for it, unless the operator brings one. */
async function openDefaultSubscription(
  accounts: Accounts,
  seed: string | undefined,
): Promise<string | undefined> {
  const { subscription, secret } = await accounts.ensureDefault({ withKey: seed === undefined });
  if (seed !== undefined) await accounts.seedKey(subscription.id, seed, 'ROUNDHOUSE_API_KEY');
  return secret;
}
