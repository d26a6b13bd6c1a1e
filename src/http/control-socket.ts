/** Where a running gateway hears its operator: a socket in the data folder that only its owner may open. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Unix refuses socket paths of more than about 104 bytes. */
const longestPath = 100;

export function controlSocketPath(dataFolder: string): string {
  const path = join(resolve(dataFolder), 'control.sock');
  if (Buffer.byteLength(path) <= longestPath) return path;
  return join(tmpdir(), `roundhouse-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`);
}
