/** Pulls one pack in a process of its own, for tests that kill it: `DATA_FOLDER REGISTRY DECLARATION`, as JSON. */
import { createPacks } from '../../src/engines/packs/index.ts';
import { createLog } from '../../src/lib/log.ts';

const [dataFolder = '', registry = '', declaration = ''] = process.argv.slice(2);
const pack = JSON.parse(declaration);
const variables: Record<string, string> = {
  npm_config_registry: registry,
  npm_config_noproxy: '127.0.0.1',
  npm_config_userconfig: `${dataFolder}/no-npmrc`,
  npm_config_globalconfig: `${dataFolder}/no-npmrc`,
};
const packs = createPacks({
  dataFolder,
  log: createLog('silent'),
  variable: (name) => variables[name],
  cwd: dataFolder,
  declarations: [pack],
});
await packs.pull(pack.name, () => {});
await packs.close();
process.stdout.write('here');
