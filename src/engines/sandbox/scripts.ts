/** The scripts of the models that one port serves. A script lives as long as its model's declaration: it counts requests. */
import assert from 'node:assert';
import { createValidator } from '../../lib/schema.ts';
import { createScript, type Script, ScriptOptions, type Timers } from './script.ts';

interface Scripted {
  readonly script?: Readonly<Record<string, unknown>>;
}

export function createScripts(timers: Timers): (request: Scripted) => Script {
  const validator = createValidator(ScriptOptions);
  const plain = createScript({}, timers);
  const scripts = new WeakMap<object, Script>();
  return ({ script: options }) => {
    if (options === undefined) return plain;
    let script = scripts.get(options);
    if (script === undefined) {
      assert(validator.check(options), 'the catalogue takes only scripts that fit the kind');
      script = createScript(options, timers);
      scripts.set(options, script);
    }
    return script;
  };
}
