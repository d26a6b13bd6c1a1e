/** What a track does in a song, in the order in which tracks are written. */
export const roles = ['lead', 'counter', 'chords', 'pad', 'bass', 'drums'] as const;
export type Role = (typeof roles)[number];
