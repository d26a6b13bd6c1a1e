/**
 * Which of a model's engines a request goes to. The same conversation prefers the same engine, because that one
 * has its beginning cached; but not at the price of waiting behind a crowd.
 */
export interface Candidate {
  readonly name: string;
  /** Requests that it runs now. */
  readonly active: number;
}

/** How many requests more than the least busy engine the preferred one may have. */
const tolerance = 4;

/** The candidate to use; undefined when there is none. */
export function chooseEngine<C extends Candidate>(candidates: readonly C[], affinity: string): C | undefined {
  let leastBusy: C | undefined;
  let preferred: C | undefined;
  let highest = -1;
  for (const candidate of candidates) {
    if (leastBusy === undefined || candidate.active < leastBusy.active) leastBusy = candidate;
    // Rendezvous hashing: an engine that comes or goes moves only its own conversations.
    const weight = affinity === '' ? -1 : hash(candidate.name, affinity);
    if (weight > highest) {
      highest = weight;
      preferred = candidate;
    }
  }
  if (leastBusy === undefined || preferred === undefined) return leastBusy;
  return preferred.active - leastBusy.active > tolerance ? leastBusy : preferred;
}

/** FNV-1a over both texts, with a final mix so that near texts do not get near weights. */
function hash(name: string, affinity: string): number {
  let value = 0x811c9dc5;
  for (const text of [name, affinity]) {
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
    value = Math.imul(value ^ 0xff, 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}
