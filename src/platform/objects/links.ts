/** Links that carry their own permission: a path and an end, signed with the deployment's secret. */
import type { Signatures } from '../signatures/types.ts';
import type { Links } from './types.ts';

export interface LinksParts {
  signatures: Signatures;
  now: () => number;
}

const purpose = 'link';

export function createLinks({ signatures, now }: LinksParts): Links {
  return {
    sign(path, expiresAt) {
      // Rounded down: a link never works longer than was promised.
      const exp = String(Math.floor(expiresAt / 1000));
      const sig = Buffer.from(signatures.sign(purpose, toText(path, exp)), 'base64').toString('base64url');
      return `exp=${exp}&sig=${sig}`;
    },

    isValid(path, { exp, sig }) {
      if (exp === undefined || sig === undefined || !/^\d{1,12}$/.test(exp)) return false;
      // Only the spelling that `sign` writes: Node would read others as the same bytes.
      if (!/^[A-Za-z0-9_-]{43}$/.test(sig)) return false;
      const signature = Buffer.from(sig, 'base64url');
      if (signature.toString('base64url') !== sig) return false;
      return (
        signatures.verify(purpose, toText(path, exp), signature.toString('base64')) &&
        now() <= Number(exp) * 1000
      );
    },
  };
}

/** The end first: it has no newline, so that no other pair makes the same text. */
function toText(path: string, exp: string): string {
  return `${exp}\n${path}`;
}
