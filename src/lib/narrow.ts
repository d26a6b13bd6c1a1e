/**
 * Cuts a value that fails a check down to a small one that fails it still, so that the slow search for words
 * has little to look at: explaining one bad item among 300,000 took 9 seconds, in which nothing else was served.
 * Long arrays are halved as long as one half alone still fails; the check itself is quick.
 */
export interface Narrowed {
  value: unknown;
  /** A place in the small value (`/messages/0/role`) as the place in the whole one (`/messages/4711/role`). */
  toOriginal(pointer: string): string;
}

/** Arrays up to this length are left as they are. */
const few = 16;
/** Of an object this many fields are looked into. */
const maxFields = 200;

type Holder = Record<string | number, unknown>;

export function narrow(value: unknown, fails: (value: unknown) => boolean): Narrowed {
  const shifts = new Map<string, number>();
  // One level of holder above the value, so that the value itself can be an array.
  const top: Holder = { value };
  narrowField(top, 'value', '', { shifts, fails: () => fails(top['value']) });
  return { value: top['value'], toOriginal: (pointer) => shift(pointer, shifts) };
}

interface Search {
  shifts: Map<string, number>;
  fails(): boolean;
}

function narrowField(holder: Holder, key: string | number, pointer: string, search: Search): void {
  const found = holder[key];
  if (Array.isArray(found)) {
    const copy = found.length > few ? halve(holder, key, found, pointer, search) : [...found];
    holder[key] = copy;
    for (let i = 0; i < Math.min(copy.length, maxFields); i++)
      narrowField(copy as unknown as Holder, i, `${pointer}/${i}`, search);
  } else if (typeof found === 'object' && found !== null) {
    const copy = { ...found } as Holder;
    holder[key] = copy;
    for (const name of Object.keys(copy).slice(0, maxFields))
      narrowField(copy, name, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, search);
  }
}

function halve(
  holder: Holder,
  key: string | number,
  all: unknown[],
  pointer: string,
  search: Search,
): unknown[] {
  let from = 0;
  let to = all.length;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    holder[key] = all.slice(from, middle);
    if (search.fails()) {
      to = middle;
      continue;
    }
    holder[key] = all.slice(middle, to);
    // Neither half alone is wrong: there are too many, or two that do not fit together.
    if (!search.fails()) break;
    from = middle;
  }
  if (from > 0) search.shifts.set(pointer, from);
  return all.slice(from, to);
}

function shift(pointer: string, shifts: ReadonlyMap<string, number>): string {
  let narrowed = '';
  let original = '';
  for (const segment of pointer.split('/').slice(1)) {
    const from = shifts.get(narrowed) ?? 0;
    narrowed += `/${segment}`;
    original += `/${from === 0 ? segment : Number(segment) + from}`;
  }
  return original;
}
