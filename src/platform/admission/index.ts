/** The public face of admission. */
export { createAdmission } from './admission.ts';
export { createSlots } from './slots.ts';
export type * from './types.ts';
