/** The names of objects: which are allowed, and those that carry the hour after which they are gone. */
import assert from 'node:assert';
import type { ObjectKey } from './types.ts';

const maxKeyLength = 512;
/** A file's name has 255 bytes at most. None begins with a dot, so none leads upwards or to our own folders. */
const segment = /^[a-z0-9_-][a-z0-9_.-]{0,199}$/;
const word = /^[a-z0-9_-]{1,100}$/;

const hourMs = 3_600_000;
const passingFolder = /^until-(\d{4})(\d{2})(\d{2})(\d{2})$/;

/** Keys are made by the gateway itself: another one is a bug. */
export function checkKey(key: ObjectKey): void {
  assert(isKey(key), `${JSON.stringify(key)} is not the key of an object`);
}

function isKey(key: string): boolean {
  return key.length <= maxKeyLength && key.split('/').every((part) => segment.test(part));
}

/** `images/until-2026111514/ab.png`: the hour is the first full one at which the time is over. */
export function toPassingKey(folder: string, expiresAt: number, name: string): ObjectKey {
  assert(word.test(folder), `${JSON.stringify(folder)} is not one word`);
  const hour = new Date(Math.ceil(expiresAt / hourMs) * hourMs).toISOString();
  const key = `${folder}/until-${hour.slice(0, 13).replace(/\D/g, '')}/${name}`;
  checkKey(key);
  return key;
}

/** When everything in a folder of that name is over; undefined where the name says nothing of it. */
export function parsePassingFolder(name: string): number | undefined {
  const [, year, month, day, hour] = passingFolder.exec(name) ?? [];
  if (hour === undefined) return undefined;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}
