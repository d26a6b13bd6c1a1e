/** Numbers as English says them. Pure. */

const small = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
).split(' ');
const tens = 'x x twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const scales = ['', 'thousand', 'million', 'billion', 'trillion', 'quadrillion'];
const longestNumber = 18;

/** Digits only; what is too long to be said as a number is said digit by digit, as a phone number is. */
export function toCardinal(digits: string): string {
  const plain = digits.replace(/^0+(?=\d)/, '');
  if (plain.length > longestNumber || (digits.length > 1 && digits.startsWith('0'))) return toDigits(digits);
  if (plain === '0') return small[0] as string;
  const groups: string[] = [];
  for (let end = plain.length, scale = 0; end > 0; end -= 3, scale += 1) {
    const group = Number(plain.slice(Math.max(0, end - 3), end));
    if (group > 0) groups.unshift([belowThousand(group), scales[scale]].filter(Boolean).join(' '));
  }
  return groups.join(' ');
}

function belowThousand(value: number): string {
  const rest = value % 100;
  const words = value >= 100 ? [small[Math.floor(value / 100)], 'hundred'] : [];
  if (rest > 0) words.push(belowHundred(rest));
  return words.join(' ');
}

function belowHundred(value: number): string {
  if (value < 20) return small[value] as string;
  const unit = value % 10;
  return unit === 0 ? (tens[value / 10] as string) : `${tens[(value - unit) / 10]} ${small[unit]}`;
}

export function toDigits(digits: string): string {
  return [...digits].map((digit) => small[Number(digit)]).join(' ');
}

/** `3.05` as "three point zero five". */
export function toDecimal(text: string): string {
  const [whole = '', decimals = ''] = text.split('.');
  return `${toCardinal(whole === '' ? '0' : whole)} point ${toDigits(decimals)}`;
}

const irregular: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

export function toOrdinal(digits: string): string {
  const words = toCardinal(digits).split(' ');
  const last = words.pop() as string;
  return [...words, irregular[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`)].join(
    ' ',
  );
}

/** 1999 as "nineteen ninety nine", 2005 as "two thousand five", 1900 as "nineteen hundred". */
export function toYear(digits: string): string {
  const year = Number(digits);
  const century = Math.floor(year / 100);
  const rest = year % 100;
  if (digits.length !== 4 || year < 1000 || year % 1000 < 10) return toCardinal(digits);
  if (rest === 0) return `${belowHundred(century)} hundred`;
  if (rest < 10) return `${belowHundred(century)} oh ${small[rest]}`;
  return `${belowHundred(century)} ${belowHundred(rest)}`;
}

/** "nineteen nineties", "twenties". */
export function toPlural(words: string): string {
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : words.endsWith('x') ? `${words}es` : `${words}s`;
}
