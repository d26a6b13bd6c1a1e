/** Why a pack cannot be had: a sentence for the operator, with paths and addresses, and one for clients, without. */
import { type ErrorDetails, GatewayError } from '../../lib/errors.ts';
import type { PackTarball } from './types.ts';

export interface PackFailureDetails extends ErrorDetails {
  /** What a client may read, as the end of a sentence: `the disk is full`. */
  told: string;
  /** It may pass by itself: a broken connection, a registry that is busy. */
  isPassing?: boolean;
}

export class PackFailure extends GatewayError {
  readonly told: string;
  readonly isPassing: boolean;

  constructor(message: string, { told, isPassing = false, ...details }: PackFailureDetails) {
    super('overloaded', message, details);
    this.name = 'PackFailure';
    this.told = told;
    this.isPassing = isPassing;
  }
}

/** A file that is not what was pinned. */
export function damaged(message: string): PackFailure {
  return new PackFailure(message, { told: 'it is damaged' });
}

export function cutOff(tarball: PackTarball, cause?: unknown): PackFailure {
  return new PackFailure(`The connection ended before all of ${toSpec(tarball)} had come`, {
    told: 'the connection to its registry broke',
    isPassing: true,
    cause,
  });
}

/** As npm names a package. */
export function toSpec({ package: name, version }: PackTarball): string {
  return `${name}@${version}`;
}

/** `322.6 MB`. */
export function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
