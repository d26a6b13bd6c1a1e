/** The public face of objects and of the links to them. */
export { createLinks, type LinksParts } from './links.ts';
export { createObjects, type ObjectsParts } from './objects.ts';
export { isNoRoom, noRoomLeft } from './room.ts';
export type * from './types.ts';
