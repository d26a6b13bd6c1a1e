/** A song while it is written. */
import type { Random } from '../seed.ts';
import type { Brief } from './brief.ts';
import type { Form } from './form.ts';
import type { Bar } from './melody.ts';
import type { Role } from './roles.ts';
import type { Note } from './types.ts';

export interface Score {
  readonly brief: Brief;
  readonly form: Form;
  readonly bars: readonly Bar[];
  readonly randomFor: (what: string) => Random;
  readonly variation: number;
  readonly notes: Map<Role, Note[]>;
}
