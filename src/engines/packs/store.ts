/**
 * Where packs lie: `models/<pack>/` holds the files of a pack and its `manifest.json`; `models/.partial/` what is
 * on its way, under names that the next pull finds again; `models/.locks/` one lock for each pack. A pack's folder
 * appears whole, by one rename.
 */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digest, sizeOf } from './download.ts';
import { damaged, PackFailure, toMegabytes } from './failure.ts';
import type { PackDeclaration, PackTarball } from './types.ts';

export type Found =
  | { readonly state: 'absent' | 'ready' }
  | { readonly state: 'damaged'; failure: PackFailure };

export interface PackStore {
  readonly folder: string;
  partialOf(tarball: PackTarball): string;
  lockOf(pack: PackDeclaration): string;
  /** Whether the pack is here, with files of the right sizes. */
  look(pack: PackDeclaration): Found;
  filesOf(pack: PackDeclaration): Record<string, string>;
  /** How much of the pack's tarballs is here. */
  receivedBytes(pack: PackDeclaration): number;
  /** Rejects with a `PackFailure` that names the damaged file. */
  verify(pack: PackDeclaration): Promise<void>;
  /** Rejects when the disk has no room for the rest of the pack. */
  checkSpace(pack: PackDeclaration): Promise<void>;
  /** An empty folder for unpacking. */
  stage(pack: PackDeclaration): Promise<string>;
  unstage(pack: PackDeclaration): Promise<void>;
  /** Checks what was unpacked and makes it the pack. */
  install(pack: PackDeclaration): Promise<void>;
  /** Only who holds the lock may. False when nothing was there. */
  remove(pack: PackDeclaration): Promise<boolean>;
  /** What lies in `.partial` of it. */
  removePartials(pack: PackDeclaration): Promise<void>;
}

const manifestName = 'manifest.json';

export function createStore(dataFolder: string): PackStore {
  const folder = join(dataFolder, 'models');
  const partials = join(folder, '.partial');
  const folderOf = ({ name }: PackDeclaration) => join(folder, name);
  const stagingOf = ({ name }: PackDeclaration) => join(partials, `${name}.unpacking`);
  const oldOf = ({ name }: PackDeclaration) => join(partials, `${name}.removed`);
  const partialOf = ({ integrity }: PackTarball) => join(partials, `${toFileName(integrity)}.tgz`);

  async function discard(pack: PackDeclaration): Promise<boolean> {
    makeFolder(partials);
    await rm(oldOf(pack), { recursive: true, force: true });
    try {
      await rename(folderOf(pack), oldOf(pack));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    await rm(oldOf(pack), { recursive: true });
    return true;
  }

  const store: PackStore = {
    folder,
    partialOf,

    lockOf({ name }) {
      const locks = join(folder, '.locks');
      makeFolder(locks);
      return join(locks, name);
    },

    look(pack) {
      if (!isManifestOf(pack, join(folderOf(pack), manifestName))) return { state: 'absent' };
      for (const file of pack.files) {
        const path = join(folderOf(pack), file.name);
        const size = statSync(path, { throwIfNoEntry: false })?.size;
        if (size !== file.bytes) {
          const found = size === undefined ? 'is missing' : `has ${size} bytes and not ${file.bytes}`;
          return { state: 'damaged', failure: damaged(`${path} ${found}. ${wayOut(pack)}`) };
        }
      }
      return { state: 'ready' };
    },

    filesOf(pack) {
      return Object.fromEntries(pack.files.map(({ role, name }) => [role, join(folderOf(pack), name)]));
    },

    receivedBytes(pack) {
      return pack.tarballs.reduce(
        (sum, tarball) => sum + (statSync(partialOf(tarball), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
    },

    async verify(pack) {
      const found = store.look(pack);
      if (found.state === 'damaged') throw found.failure;
      if (found.state === 'ready') await checkFiles(pack, folderOf(pack), wayOut(pack));
    },

    async checkSpace(pack) {
      makeFolder(partials);
      let needed = pack.files.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const tarball of pack.tarballs) needed += tarball.bytes - (await sizeOf(partialOf(tarball)));
      const { bavail, bsize } = await statfs(partials);
      if (bavail * bsize < needed) throw diskFull(pack, folder, { needed, free: bavail * bsize });
    },

    async stage(pack) {
      await store.unstage(pack);
      await mkdir(stagingOf(pack), { mode: 0o700 });
      return stagingOf(pack);
    },

    async unstage(pack) {
      await rm(stagingOf(pack), { recursive: true, force: true });
    },

    async install(pack) {
      const staging = stagingOf(pack);
      await checkFiles(pack, staging, 'Nothing of it was kept.');
      await writeFile(join(staging, manifestName), `${JSON.stringify(toManifest(pack), null, 2)}\n`, {
        mode: 0o600,
        flush: true,
      });
      await discard(pack);
      await rename(staging, folderOf(pack));
    },

    async remove(pack) {
      const isPartial = store.receivedBytes(pack) > 0;
      const isInstalled = await discard(pack);
      await store.removePartials(pack);
      return isInstalled || isPartial;
    },

    async removePartials(pack) {
      await store.unstage(pack);
      for (const tarball of pack.tarballs) await rm(partialOf(tarball), { force: true });
    },
  };
  return store;
}

/** Level by level: `mkdir` with `recursive` never returns where the kernel makes no folders, such as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Base64 has a slash, which cannot stand in a file's name. */
function toFileName(integrity: string): string {
  const [algorithm = '', value = ''] = integrity.split('-');
  return `${algorithm}-${Buffer.from(value, 'base64').toString('hex')}`;
}

function toManifest({ name, licence, tarballs, files }: PackDeclaration) {
  return {
    name,
    licence,
    packages: tarballs.map(({ package: from, version }) => `${from}@${version}`),
    files: files.map(({ name: file, bytes, sha256 }) => ({ name: file, bytes, sha256 })),
  };
}

/** A pack of the same name that another version of the gateway declared otherwise is none of ours. */
function isManifestOf(pack: PackDeclaration, file: string): boolean {
  try {
    const { files } = JSON.parse(readFileSync(file, 'utf8')) as { files?: unknown };
    return JSON.stringify(files) === JSON.stringify(toManifest(pack).files);
  } catch {
    return false;
  }
}

async function checkFiles(pack: PackDeclaration, folder: string, advice: string): Promise<void> {
  for (const { name, bytes, sha256 } of pack.files) {
    const path = join(folder, name);
    if ((await sizeOf(path)) !== bytes || (await digest(path, 'sha256', 'hex')) !== sha256) {
      throw damaged(`${name} of the pack ${pack.name} is damaged (${path}). ${advice}`);
    }
  }
}

function wayOut({ name }: PackDeclaration): string {
  return `"roundhouse models remove ${name}" deletes the pack, "roundhouse models pull ${name}" fetches it again.`;
}

/** What it needs and what is free is unknown where the disk became full on the way. */
export function diskFull(
  pack: PackDeclaration,
  folder: string,
  { needed, free, cause }: { needed?: number; free?: number; cause?: unknown },
): PackFailure {
  const all = [...pack.tarballs, ...pack.files].reduce((sum, { bytes }) => sum + bytes, 0);
  const room = toMegabytes(needed ?? all);
  const left = free === undefined ? '' : `, ${toMegabytes(free)} are free`;
  return new PackFailure(`The disk is full: the pack ${pack.name} needs ${room} in ${folder}${left}`, {
    told: `the disk is full, it needs ${room}`,
    cause,
  });
}
