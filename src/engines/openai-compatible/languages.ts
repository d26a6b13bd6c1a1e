/** Languages as engines name them: by code (speaches) or by their English names (whisper.cpp, OpenAI). Pure. */

/** Names that Whisper has for languages which the Unicode names call otherwise. */
const otherNames: Readonly<Record<string, string>> = {
  castilian: 'es',
  valencian: 'ca',
  flemish: 'nl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  pushto: 'ps',
  panjabi: 'pa',
  moldavian: 'ro',
  moldovan: 'ro',
  sinhalese: 'si',
  myanmar: 'my',
  mandarin: 'zh',
  nynorsk: 'nn',
  tagalog: 'tl',
};

/** An ISO 639-1 code; undefined for what has none. */
export function toLanguageCode(name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (/^[a-z]{2}$/.test(wanted)) return wanted === 'jw' ? 'jv' : wanted;
  return otherNames[wanted] ?? findByName(wanted);
}

function findByName(wanted: string): string | undefined {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  for (let first = 97; first < 123; first++) {
    for (let second = 97; second < 123; second++) {
      const code = String.fromCharCode(first, second);
      // Old codes (`iw`) are answered with the name of what replaced them, and come later or have gone before.
      if (names.of(code)?.toLowerCase() === wanted && new Intl.Locale(code).language === code) return code;
    }
  }
  return undefined;
}
